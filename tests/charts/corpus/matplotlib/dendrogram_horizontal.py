# %% data
import numpy as np
points = np.array([[1.0], [1.5], [6.0], [7.0]])
# %% program
import matplotlib.pyplot as plt
from scipy.cluster import hierarchy

links = hierarchy.linkage(points, "single")
fig, ax = plt.subplots(figsize=(6, 4))
hierarchy.dendrogram(links, ax=ax, orientation="right", above_threshold_color="black", color_threshold=0,
                     labels=[f"item {i}" for i in range(len(points))])
ax.set_xlabel("Distance")
ax.set_title("Single linkage")
fig.tight_layout()
fig.savefig("tree.png")
# %% expected
from scipy.cluster import hierarchy
tree = hierarchy.dendrogram(hierarchy.linkage(points, "single"), no_plot=True)
expected = [{"title": "Single linkage", "x": {"label": "Distance"}, "y": {"tick_labels": [f"item {i}" for i in tree["ivl"]]}, "series": [
    {"kind": "other", "columns": {"x": np.ravel(tree["dcoord"]), "y": np.ravel(tree["icoord"])}}]}]
