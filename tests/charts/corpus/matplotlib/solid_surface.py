# %% data
import numpy as np
x = np.arange(-2, 2.1, 0.5)
y = np.arange(-1, 1.1, 0.25)
X, Y = np.meshgrid(x, y)
Z = X ** 2 - Y ** 2
# %% program
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d import Axes3D
fig = plt.figure()
ax = fig.add_subplot(111, projection="3d")
surf = ax.plot_surface(X, Y, Z, cmap="coolwarm")
ax.set_xlabel("X")
ax.set_zlabel("height")
fig.colorbar(surf, shrink=0.5)
ax.set_title("Saddle")
plt.show()
# %% expected
expected = [{"kind": "surface3d", "title": "Saddle", "x": {"label": "X"}, "z": {"label": "height"}, "series": [{"kind": "surface3d", "columns": {"x": x, "y": y, "z": Z}}]}]
