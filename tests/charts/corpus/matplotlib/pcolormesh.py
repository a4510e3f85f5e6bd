# %% data
import numpy as np
x = np.linspace(-2, 2, 9)
y = np.linspace(0, 1, 5)
X, Y = np.meshgrid(x, y)
Z = X * np.exp(-Y)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
c = ax.pcolormesh(X, Y, Z, cmap="RdBu", shading="auto")
fig.colorbar(c, ax=ax, label="z")
ax.set_title("pcolormesh")
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "pcolormesh", "z": {"label": "z"}, "series": [{"kind": "heatmap", "columns": {"x": x, "y": y, "z": Z}}]}]
