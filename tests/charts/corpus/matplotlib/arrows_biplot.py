# %% data
import numpy as np
scores = np.array([[1.0, 0.5], [-1.5, 0.25], [0.5, -0.75]])
loadings = np.array([[0.8, 0.1], [-0.2, 0.9]])
names = ["length", "width"]
# %% program
import matplotlib.pyplot as plt

plt.figure(figsize=(6, 6))
plt.scatter(scores[:, 0], scores[:, 1], alpha=0.7)
for i, name in enumerate(names):
    plt.arrow(0, 0, loadings[i, 0], loadings[i, 1], color="r", head_width=0.05, length_includes_head=True)
    plt.text(loadings[i, 0] * 1.15, loadings[i, 1] * 1.15, name, color="g")
plt.xlabel("PC1")
plt.ylabel("PC2")
plt.title("Biplot")
plt.grid()
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "Biplot", "x": {"label": "PC1"}, "annotations": [{"text": n} for n in names], "series": [
    {"kind": "scatter", "columns": {"x": scores[:, 0], "y": scores[:, 1]}},
    {"kind": "other", "columns": {"x": [0, 0], "y": [0, 0], "x_end": loadings[:, 0], "y_end": loadings[:, 1]}}]}]
