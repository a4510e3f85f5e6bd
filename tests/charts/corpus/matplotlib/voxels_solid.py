# %% data
import numpy as np
filled = np.zeros((2, 2, 2), dtype=bool)
filled[0, 0, 0] = filled[1, 1, 1] = True
# %% program
import matplotlib.pyplot as plt

fig = plt.figure(figsize=(5, 5))
ax = fig.add_subplot(projection="3d")
colors = np.empty(filled.shape, dtype=object)
colors[0, 0, 0] = "red"
colors[1, 1, 1] = "blue"
ax.voxels(filled, facecolors=colors, edgecolor="k")
ax.set_xlabel("X")
ax.set_ylabel("Y")
ax.set_zlabel("Z")
ax.set_title("Voxels")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Voxels", "x": {"label": "X"}, "z": {"label": "Z"}, "unread": ["2 solid shapes"], "series": []}]
