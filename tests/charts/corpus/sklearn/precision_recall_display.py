# %% data
import numpy as np
y_true = np.array([0, 1, 1, 0, 1, 0, 1, 0, 0, 1])
score = np.array([0.1, 0.9, 0.4, 0.35, 0.8, 0.5, 0.65, 0.2, 0.3, 0.55])
# %% program
import matplotlib.pyplot as plt
from sklearn.metrics import PrecisionRecallDisplay

display = PrecisionRecallDisplay.from_predictions(y_true, score, name="Model")
display.ax_.set_title("Precision-recall curve")
display.ax_.set_ylim(0, 1.05)
display.ax_.axhline(y_true.mean(), linestyle="--", color="gray", label="Baseline")
display.ax_.legend(loc="lower left")
plt.show()
# %% expected
from sklearn.metrics import precision_recall_curve
precision, recall, _ = precision_recall_curve(y_true, score)
expected = [{"kind": "step", "title": "Precision-recall curve", "series": [{"kind": "step", "columns": {"x": recall, "y": precision}}, {"kind": "rule", "label": "Baseline", "columns": {"y": [0.5]}}]}]
