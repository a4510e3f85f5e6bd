# %% data
import numpy as np
districts = [[(0, 0), (2, 0), (2, 1), (0, 1)], [(2, 0), (3, 0), (3, 2)], [(0, 1), (2, 1), (3, 2), (1, 3), (0, 2)]]
rate = np.array([3.5, 8.0, 5.25])
# %% program
import matplotlib.pyplot as plt
from matplotlib.collections import PatchCollection
from matplotlib.patches import Polygon

fig, ax = plt.subplots()
shapes = [Polygon(corners, closed=True) for corners in districts]
layer = PatchCollection(shapes, cmap="OrRd", edgecolor="black")
layer.set_array(rate)
ax.add_collection(layer)
ax.autoscale_view()
plt.colorbar(layer, ax=ax, label="Unemployment (%)")
ax.set_title("Districts")
ax.axis("off")
plt.show()
# %% expected
rows = [(x, y, i, rate[i]) for i, c in enumerate(districts) for x, y in c]
expected = [{"kind": "other", "title": "Districts", "z": {"label": "Unemployment (%)"}, "series": [{"kind": "other", "columns": {
    "x": [r[0] for r in rows], "y": [r[1] for r in rows], "path": [r[2] for r in rows], "value": [r[3] for r in rows]}}]}]
