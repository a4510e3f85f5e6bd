# %% data
import numpy as np
points = np.array([[0.0, 0.0], [0.3, 0.1], [4.0, 4.0], [4.2, 4.5], [9.0, 0.0]])
names = ["ant", "bee", "cat", "dog", "elk"]
# %% program
import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import dendrogram, linkage

Z = linkage(points, method="ward")
plt.figure(figsize=(8, 5))
dendrogram(Z, labels=names, leaf_rotation=90, color_threshold=0)
plt.title("Hierarchical clustering")
plt.ylabel("Distance")
plt.axhline(y=5, color="gray", linestyle="--", label="cut")
plt.legend()
plt.tight_layout()
plt.show()
# %% expected
from scipy.cluster.hierarchy import dendrogram, linkage
tree = dendrogram(linkage(points, method="ward"), labels=names, no_plot=True)
expected = [{"title": "Hierarchical clustering", "x": {"tick_labels": tree["ivl"], "ticks": [5, 15, 25, 35, 45]}, "y": {"label": "Distance"}, "series": [
    {"kind": "other", "columns": {"x": np.ravel(tree["icoord"]), "y": np.ravel(tree["dcoord"]), "path": np.repeat(np.arange(4), 4)}},
    {"kind": "rule", "label": "cut", "columns": {"y": [5]}}]}]
