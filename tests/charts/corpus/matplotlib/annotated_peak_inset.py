# %% data
import numpy as np
x = np.linspace(0, 10, 41)
y = np.exp(-(x - 4) ** 2)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(x, y)
ax.annotate("peak", xy=(4, 1), xytext=(6, 0.8), arrowprops=dict(arrowstyle="->"))
ax.axvspan(3, 5, alpha=0.2)
plt.show()
# %% expected
expected = [{"kind": "line", "annotations": [{"text": "peak", "x": 4, "y": 1}], "series": [{"kind": "line", "columns": {"x": x, "y": y}}, {"kind": "other", "columns": {"x": [3, 5]}}]}]
