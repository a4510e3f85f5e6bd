# %% data
import numpy as np
X = np.array([[0.0], [0.2], [0.4], [1.0], [1.2], [0.9], [0.1], [1.1]])
y = np.array([0, 0, 0, 1, 1, 0, 0, 1])
# %% program
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay

model = LogisticRegression(C=100).fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, normalize, title in zip(axes, (None, "true"), ("Counts", "Normalized")):
    ConfusionMatrixDisplay.from_estimator(model, X, y, normalize=normalize, display_labels=["healthy", "sick"],
                                          ax=ax, colorbar=False)
    ax.set_title(title)
plt.tight_layout()
plt.show()
# %% expected
from sklearn.linear_model import LogisticRegression
guess = LogisticRegression(C=100).fit(X, y).predict(X)
cm = np.array([[int(((y == a) & (guess == b)).sum()) for b in (0, 1)] for a in (0, 1)])
names = ["healthy", "sick"]
expected = [{"kind": "multi", "charts": [
    {"kind": "heatmap", "title": "Counts", "series": [{"kind": "heatmap", "columns": {"x": names, "y": names, "z": cm}}]},
    {"kind": "heatmap", "title": "Normalized", "series": [{"kind": "heatmap", "columns": {"x": names, "y": names, "z": cm / cm.sum(axis=1, keepdims=True)}}]}]}]
