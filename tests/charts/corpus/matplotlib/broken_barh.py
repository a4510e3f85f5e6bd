# %% data
spans = [(110, 30), (150, 10)]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.broken_barh(spans, (10, 9), facecolors='tab:blue')
ax.set_xlabel('seconds since start')
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "series": [{"kind": "bar", "columns": {"x": [30, 10], "y": [14.5, 14.5], "base": [110, 150]}}]}]
