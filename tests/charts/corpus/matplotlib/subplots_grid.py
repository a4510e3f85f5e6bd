# %% data
import numpy as np
rng = np.random.default_rng(50)
x = np.arange(5)
v = rng.normal(size=50)
# %% program
import matplotlib.pyplot as plt
fig, axs = plt.subplots(2, 2, figsize=(10, 8))
axs[0, 0].plot(x, x ** 2)
axs[0, 0].set_title("line")
axs[0, 1].scatter(x, x[::-1])
axs[0, 1].set_title("scatter")
axs[1, 0].bar(["p", "q"], [3, 4])
axs[1, 0].set_title("bar")
axs[1, 1].hist(v, bins=5)
axs[1, 1].set_title("hist")
fig.suptitle("Dashboard")
plt.tight_layout()
plt.show()
# %% expected
c, e = np.histogram(v, 5)
expected = [{"kind": "multi", "title": "Dashboard", "series": [], "charts": [
    {"kind": "line", "row": 0, "column": 0, "title": "line", "series": [{"kind": "line", "columns": {"x": x, "y": x ** 2}}]},
    {"kind": "scatter", "row": 0, "column": 1, "title": "scatter", "series": [{"kind": "scatter", "columns": {"x": x, "y": x[::-1]}}]},
    {"kind": "bar", "row": 1, "column": 0, "title": "bar", "series": [{"kind": "bar", "columns": {"x": ["p", "q"], "y": [3, 4]}}]},
    {"kind": "histogram", "row": 1, "column": 1, "title": "hist", "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}]},
]}]
