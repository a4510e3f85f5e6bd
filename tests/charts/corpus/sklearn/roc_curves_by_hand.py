# %% data
import numpy as np
rng = np.random.default_rng(0)
y_true = rng.integers(0, 2, 40)
scores = {"Logistic": y_true + rng.normal(0, 0.6, 40), "Tree": y_true + rng.normal(0, 1.2, 40)}
# %% program
import matplotlib.pyplot as plt
from sklearn.metrics import auc, roc_curve

plt.figure(figsize=(6, 6))
for name, s in scores.items():
    fpr, tpr, _ = roc_curve(y_true, s)
    plt.plot(fpr, tpr, lw=2, label=f"{name} (AUC = {auc(fpr, tpr):.3f})")
plt.plot([0, 1], [0, 1], color="navy", lw=1, linestyle="--", label="Chance")
plt.xlim([0.0, 1.0])
plt.ylim([0.0, 1.05])
plt.xlabel("False Positive Rate")
plt.ylabel("True Positive Rate")
plt.title("ROC curves")
plt.legend(loc="lower right")
plt.show()
# %% expected
from sklearn.metrics import roc_auc_score, roc_curve
expected = [{"kind": "line", "title": "ROC curves", "y": {"label": "True Positive Rate", "limits": [0, 1.05]}, "series": [
    *[{"kind": "line", "label": f"{n} (AUC = {roc_auc_score(y_true, s):.3f})", "columns": {"x": roc_curve(y_true, s)[0], "y": roc_curve(y_true, s)[1]}} for n, s in scores.items()],
    {"kind": "line", "label": "Chance", "columns": {"x": [0, 1], "y": [0, 1]}}]}]
