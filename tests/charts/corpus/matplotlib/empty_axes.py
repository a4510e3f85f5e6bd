# %% data
nothing = None
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.set_title("Nothing yet")
ax.set_xlabel("time")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Nothing yet", "x": {"label": "time"}, "series": []}]
