# %% data
import numpy as np
X, Y = np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 2, 7))
Z = np.sin(X * Y)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots(subplot_kw={"projection": "3d"})
ax.plot_wireframe(X, Y, Z)
plt.show()
# %% expected
expected = [{"kind": "surface3d", "series": [{"kind": "surface3d", "columns": {"x": X[0], "y": Y[:, 0], "z": Z}}]}]
