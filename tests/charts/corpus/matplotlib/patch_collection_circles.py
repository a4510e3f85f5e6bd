# %% data
import numpy as np
centres = np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 3.5]])
radii = [0.5, 1.0, 0.25]
values = np.array([10.0, 30.0, 20.0])
# %% program
import matplotlib.pyplot as plt
from matplotlib.collections import PatchCollection
from matplotlib.patches import Circle

fig, ax = plt.subplots(figsize=(6, 6))
patches = [Circle((x, y), r) for (x, y), r in zip(centres, radii)]
collection = PatchCollection(patches, cmap="plasma", alpha=0.7)
collection.set_array(values)
ax.add_collection(collection)
fig.colorbar(collection, ax=ax, label="Load")
ax.set_xlim(0, 5)
ax.set_ylim(0, 5)
ax.set_aspect("equal")
ax.set_title("Stations")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Stations", "z": {"label": "Load"}, "unread": ["outlines of 3 shapes"],
    "series": [{"kind": "other", "columns": {"x": centres[:, 0], "y": centres[:, 1], "width": [2 * r for r in radii], "height": [2 * r for r in radii], "value": values}}]}]
