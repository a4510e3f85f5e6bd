# %% data
import numpy as np
z = np.arange(6.0).reshape(2, 3)
# %% program
import matplotlib.pyplot as plt
fig = plt.figure(constrained_layout=True)
gs = fig.add_gridspec(2, 2)
top = fig.add_subplot(gs[0, :])
top.plot([1, 2, 3])
left = fig.add_subplot(gs[1, 0])
im = left.imshow(z)
fig.colorbar(im, ax=left)
right = fig.add_subplot(gs[1, 1])
mesh = right.pcolormesh(z)
fig.colorbar(mesh, ax=right, orientation="horizontal", label="t")
plt.show()
# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "row": 0, "column": 0, "series": [{"kind": "line", "columns": {"x": [0, 1, 2], "y": [1, 2, 3]}}]},
    {"kind": "heatmap", "row": 1, "column": 0, "series": [{"kind": "heatmap", "columns": {"x": [0, 1, 2], "y": [0, 1], "z": z}}]},
    {"kind": "heatmap", "row": 1, "column": 1, "z": {"label": "t"}, "series": [{"kind": "heatmap", "columns": {"x": [0.5, 1.5, 2.5], "y": [0.5, 1.5], "z": z}}]}]}]
