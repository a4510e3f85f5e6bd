# %% data
import numpy as np
values = {0: np.array([0.2, 0.5, 0.6]), 1: np.array([0.1, 0.3, 0.7, 0.8])}
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 5))
y_lower = 2
for cluster, v in values.items():
    v = np.sort(v)
    y_upper = y_lower + len(v)
    ax.fill_betweenx(np.arange(y_lower, y_upper), 0, v, alpha=0.7, label=f"cluster {cluster}")
    ax.text(-0.05, y_lower + 0.5 * len(v), str(cluster))
    y_lower = y_upper + 2
ax.axvline(x=np.mean(np.concatenate(list(values.values()))), color="red", linestyle="--")
ax.set_yticks([])
ax.set_xlabel("Silhouette coefficient")
ax.set_ylabel("Cluster label")
ax.set_title("Silhouette plot")
plt.show()
# %% expected
expected = [{"kind": "area", "title": "Silhouette plot", "x": {"label": "Silhouette coefficient"}, "annotations": [{"text": "0"}, {"text": "1"}], "series": [
    {"kind": "area", "label": "cluster 0", "columns": {"y": [2, 3, 4], "x": values[0]}}, {"kind": "area", "label": "cluster 1", "columns": {"y": [7, 8, 9, 10], "x": values[1]}},
    {"kind": "rule", "columns": {"x": [3.2 / 7]}}]}]
