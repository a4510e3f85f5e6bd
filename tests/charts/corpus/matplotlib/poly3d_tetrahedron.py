# %% data
import numpy as np
v = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, 0.5, 1]])
# %% program
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

faces = [[v[0], v[1], v[2]], [v[0], v[1], v[3]], [v[1], v[2], v[3]], [v[0], v[2], v[3]]]
fig = plt.figure()
ax = fig.add_subplot(111, projection="3d")
ax.add_collection3d(Poly3DCollection(faces, alpha=0.4, edgecolor="k", facecolor="cyan"))
ax.scatter(v[:, 0], v[:, 1], v[:, 2], color="red", s=40)
ax.set_xlim(0, 1)
ax.set_ylim(0, 1)
ax.set_zlim(0, 1)
ax.set_title("Tetrahedron")
plt.show()
# %% expected
expected = [{"kind": "scatter3d", "title": "Tetrahedron", "unread": ["1 solid shape"],
    "series": [{"kind": "scatter3d", "columns": {"x": v[:, 0], "y": v[:, 1], "z": v[:, 2]}}]}]
