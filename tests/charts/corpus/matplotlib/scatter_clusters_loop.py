# %% data
import numpy as np
rng = np.random.default_rng(32)
points = rng.normal(size=(90, 2))
cluster = np.arange(90) % 3
# %% program
import matplotlib.pyplot as plt
for k in range(3):
    m = cluster == k
    plt.scatter(points[m, 0], points[m, 1], label=f"cluster {k}", s=15)
plt.legend()
plt.title("k-means")
plt.savefig("clusters.pdf")
# %% expected
expected = [{"kind": "scatter", "title": "k-means", "series": [
    {"kind": "scatter", "label": f"cluster {k}", "columns": {"x": points[cluster == k, 0], "y": points[cluster == k, 1]}} for k in range(3)]}]
