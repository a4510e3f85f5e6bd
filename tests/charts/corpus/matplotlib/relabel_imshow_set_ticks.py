# %% data
import numpy as np
harvest = np.array([[0.8, 2.4, 2.5], [2.4, 0.0, 4.0], [1.1, 2.4, 0.8], [0.6, 0.0, 0.3]])
vegetables = ["cucumber", "tomato", "lettuce", "asparagus"]
farmers = ["Joe", "Upland", "Smith"]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
im = ax.imshow(harvest, cmap="YlGn")
cbar = ax.figure.colorbar(im, ax=ax)
cbar.ax.set_ylabel("harvest [t/year]", rotation=-90, va="bottom")
ax.set_xticks(np.arange(harvest.shape[1]), labels=farmers)
ax.set_yticks(np.arange(harvest.shape[0]), labels=vegetables)
ax.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False)
ax.spines[:].set_visible(False)
ax.set_xticks(np.arange(harvest.shape[1] + 1) - 0.5, minor=True)
ax.set_yticks(np.arange(harvest.shape[0] + 1) - 0.5, minor=True)
ax.grid(which="minor", color="w", linestyle="-", linewidth=3)
ax.tick_params(which="minor", bottom=False, left=False)
ax.set_title("Harvest of local farmers")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Harvest of local farmers", "x": {"scale": "category", "ticks": farmers}, "y": {"scale": "category", "ticks": vegetables},
    "z": {"label": "harvest [t/year]"}, "series": [{"kind": "heatmap", "columns": {"x": farmers, "y": vegetables, "z": harvest}}]}]
