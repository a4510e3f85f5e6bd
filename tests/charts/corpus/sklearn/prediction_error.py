# %% data
import numpy as np
actual = np.array([3.0, 5.0, 7.5, 9.0, 12.0])
predicted = np.array([2.8, 5.4, 7.0, 9.6, 11.0])
# %% program
import matplotlib.pyplot as plt
from sklearn.metrics import PredictionErrorDisplay, r2_score

fig, axs = plt.subplots(ncols=2, figsize=(9, 4))
PredictionErrorDisplay.from_predictions(actual, predicted, kind="actual_vs_predicted", ax=axs[0])
axs[0].set_title("Actual and predicted")
PredictionErrorDisplay.from_predictions(actual, predicted, kind="residual_vs_predicted", ax=axs[1])
axs[1].set_title("Residuals")
fig.suptitle(f"R2 = {r2_score(actual, predicted):.3f}")
plt.tight_layout()
plt.show()
# %% expected
r2 = 1 - ((actual - predicted) ** 2).sum() / ((actual - actual.mean()) ** 2).sum()
low, high = 2.8, 12.0
expected = [{"kind": "multi", "title": f"R2 = {r2:.3f}", "charts": [
    {"title": "Actual and predicted", "series": [{"kind": "line", "columns": {"x": [low, high], "y": [low, high]}}, {"kind": "scatter", "columns": {"x": predicted, "y": actual}}]},
    {"title": "Residuals", "series": [{"kind": "line", "columns": {"x": [2.8, 11.0], "y": [0, 0]}}, {"kind": "scatter", "columns": {"x": predicted, "y": actual - predicted}}]}]}]
