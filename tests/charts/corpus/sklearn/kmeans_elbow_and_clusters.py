# %% data
import numpy as np
X = np.array([[0.0, 0.0], [0.2, 0.1], [0.1, 0.3], [5.0, 5.0], [5.2, 4.9], [4.9, 5.1]])
# %% program
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

inertias = [KMeans(n_clusters=k, n_init=5, random_state=0).fit(X).inertia_ for k in (1, 2)]
km = KMeans(n_clusters=2, n_init=5, random_state=0).fit(X)
fig, (ax1, ax2) = plt.subplots(1, 2, figsize=(11, 4))
ax1.plot([1, 2], inertias, "bo-")
ax1.set(xlabel="Number of clusters", ylabel="Inertia", title="Elbow method")
ax1.axvline(2, color="r", linestyle="--")
ax2.scatter(X[:, 0], X[:, 1], c=km.labels_, cmap="viridis")
ax2.scatter(*km.cluster_centers_.T, c="red", marker="x", s=100, label="Centroids")
ax2.set_title("Clusters")
ax2.legend()
plt.tight_layout()
plt.show()
# %% expected
def spread(part):
    return float(((part - part.mean(0)) ** 2).sum())
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "title": "Elbow method", "x": {"label": "Number of clusters"}, "series": [{"kind": "line", "columns": {"x": [1, 2], "y": [spread(X), spread(X[:3]) + spread(X[3:])]}}, {"kind": "rule", "columns": {"x": [2]}}]},
    {"kind": "scatter", "title": "Clusters", "series": [{"kind": "scatter", "columns": {"x": X[:, 0], "y": X[:, 1]}}, {"kind": "scatter", "label": "Centroids"}]}]}]
