# %% data
import numpy as np
y_true = np.array([0, 0, 1, 1, 0, 1, 1, 0])
score = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.7, 0.9, 0.6])
# %% program
import matplotlib.pyplot as plt
from sklearn.metrics import RocCurveDisplay

fig, ax = plt.subplots(figsize=(5, 5))
RocCurveDisplay.from_predictions(y_true, score, name="Forest", ax=ax, plot_chance_level=True)
ax.set_title("Receiver operating characteristic")
ax.set_xlabel("False positive rate")
ax.set_ylabel("True positive rate")
ax.grid(alpha=0.3)
plt.tight_layout()
plt.show()
# %% expected
from sklearn.metrics import roc_curve
fpr, tpr, _ = roc_curve(y_true, score, drop_intermediate=True)
expected = [{"title": "Receiver operating characteristic", "x": {"label": "False positive rate"}, "series": [
    {"kind": "line", "columns": {"x": fpr, "y": tpr}}, {"kind": "line", "columns": {"x": [0, 1], "y": [0, 1]}}]}]
