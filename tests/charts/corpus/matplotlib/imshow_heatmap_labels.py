# %% data
import numpy as np
harvest = np.array([[0.8, 2.4, 2.5], [2.4, 0.0, 4.0], [1.1, 2.4, 0.8], [0.6, 0.0, 0.3]])
vegetables = ["cucumber", "tomato", "lettuce", "asparagus"]
farmers = ["Joe", "Upland", "Smith"]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
im = ax.imshow(harvest)
ax.set_xticks(np.arange(len(farmers)), labels=farmers)
ax.set_yticks(np.arange(len(vegetables)), labels=vegetables)
plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
for i in range(len(vegetables)):
    for j in range(len(farmers)):
        ax.text(j, i, harvest[i, j], ha="center", va="center", color="w")
ax.set_title("Harvest")
cbar = ax.figure.colorbar(im, ax=ax)
cbar.ax.set_ylabel("tons", rotation=-90, va="bottom")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Harvest", "x": {"scale": "category", "ticks": farmers}, "y": {"scale": "category", "ticks": vegetables}, "z": {"label": "tons"},
    "series": [{"kind": "heatmap", "columns": {"x": farmers, "y": vegetables, "z": harvest}}]}]
