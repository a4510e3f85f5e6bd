# %% data
import numpy as np
rng = np.random.default_rng(7)
X = np.round(np.vstack([rng.normal(m, 1, (6, 3)) for m in (0, 5)]), 3)
target = np.repeat([0, 1], 6)
# %% program
import matplotlib.pyplot as plt
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

pca = PCA(n_components=2)
Z = pca.fit_transform(StandardScaler().fit_transform(X))
plt.figure(figsize=(7, 5))
scatter = plt.scatter(Z[:, 0], Z[:, 1], c=target, cmap="viridis")
plt.legend(handles=scatter.legend_elements()[0], labels=["control", "treated"])
plt.xlabel(f"PC1 ({pca.explained_variance_ratio_[0]:.1%})")
plt.ylabel("PC2")
plt.title("PCA of the samples")
plt.show()
# %% expected
scaled = (X - X.mean(0)) / X.std(0)
u, s, vt = np.linalg.svd(scaled, full_matrices=False)
signs = np.sign(vt[np.arange(3), np.abs(vt).argmax(1)])
Z = (scaled @ vt.T * signs)[:, :2]
tolerance = 1e-6
expected = [{"kind": "scatter", "title": "PCA of the samples", "y": {"label": "PC2"}, "x": {"label": f"PC1 ({s[0] ** 2 / (s**2).sum():.1%})"},
    "series": [{"kind": "scatter", "columns": {"x": Z[:, 0], "y": Z[:, 1], "value": target}}]}]
