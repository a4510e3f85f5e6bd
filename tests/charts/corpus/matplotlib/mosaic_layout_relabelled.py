# %% data
import numpy as np
kinds = ["x", "y"]
counts = [3, 8]
t = np.linspace(0, 1, 5)
# %% program
import matplotlib.pyplot as plt

fig, axes = plt.subplot_mosaic([["bars", "bars"], ["line", "hist"]], figsize=(8, 6), layout="constrained")
axes["bars"].bar(kinds, counts)
axes["bars"].set_xticks([0, 1], labels=["Kind X", "Kind Y"])
axes["bars"].set_title("Counts")
axes["line"].plot(t, t**2, label="square")
axes["line"].set_yscale("symlog")
axes["line"].legend()
axes["hist"].hist([1, 1, 2, 3, 3, 3], bins=[1, 2, 3, 4], density=True)
axes["hist"].set_title("Density")
fig.suptitle("Overview")
plt.show()
# %% expected
expected = [{"kind": "multi", "title": "Overview", "charts": [
    {"kind": "bar", "title": "Counts", "series": [{"kind": "bar", "columns": {"x": ["Kind X", "Kind Y"], "y": counts}}]},
    {"kind": "line", "y": {"scale": "symlog"}, "series": [{"kind": "line", "label": "square", "columns": {"x": t, "y": t**2}}]},
    {"kind": "histogram", "title": "Density", "series": [{"kind": "histogram", "columns": {"start": [1, 2, 3], "end": [2, 3, 4], "count": [2 / 6, 1 / 6, 3 / 6]}}]}]}]
