# %% data
import numpy as np
X = np.column_stack([np.linspace(0, 1, 30), np.tile([0.0, 1.0, 2.0], 10)])
y = 3 * X[:, 0] - X[:, 1]
# %% program
import matplotlib.pyplot as plt
from sklearn.inspection import PartialDependenceDisplay
from sklearn.linear_model import LinearRegression

model = LinearRegression().fit(X, y)
fig, ax = plt.subplots(figsize=(8, 4))
PartialDependenceDisplay.from_estimator(model, X, [0, 1], feature_names=["dose", "stage"], grid_resolution=5, ax=ax)
fig.suptitle("Partial dependence")
plt.tight_layout()
plt.show()
# %% expected
from scipy.stats.mstats import mquantiles
grid = np.linspace(*mquantiles(X[:, 0], [0.05, 0.95]), 5)
tenths = np.arange(0.1, 1, 0.1)
def marks(column):
    return [{"kind": "rule", "columns": {"x": [d]}} for d in mquantiles(X[:, column], tenths).tolist()]
expected = [{"kind": "multi", "title": "Partial dependence", "charts": [
    {"kind": "line", "x": {"label": "dose"}, "y": {"label": "Partial dependence"}, "series": [{"kind": "line", "columns": {"x": grid, "y": 3 * grid - X[:, 1].mean()}}, *marks(0)]},
    {"kind": "line", "x": {"label": "stage"}, "series": [{"kind": "line", "columns": {"x": [0, 1, 2], "y": 3 * X[:, 0].mean() - np.array([0, 1, 2])}}, *marks(1)]}]}]
