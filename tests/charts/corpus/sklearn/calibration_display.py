# %% data
import numpy as np
y_true = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1, 0])
prob = np.array([0.1, 0.15, 0.3, 0.35, 0.45, 0.55, 0.7, 0.81, 0.95, 0.63])
# %% program
import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay

fig, ax = plt.subplots()
CalibrationDisplay.from_predictions(y_true, prob, n_bins=5, name="SVC", ax=ax)
ax.set_title("Calibration plot")
ax.set_xlabel("Mean predicted probability")
ax.set_ylabel("Fraction of positives")
ax.legend(loc="upper left")
fig.tight_layout()
plt.show()
# %% expected
bins = (prob * 5).astype(int)
used = sorted(set(bins.tolist()))
expected = [{"kind": "line", "title": "Calibration plot", "x": {"label": "Mean predicted probability"}, "series": [
    {"kind": "line", "label": "Perfectly calibrated", "columns": {"x": [0, 1], "y": [0, 1]}},
    {"kind": "line", "label": "SVC", "columns": {"x": [prob[bins == b].mean() for b in used], "y": [y_true[bins == b].mean() for b in used]}}]}]
