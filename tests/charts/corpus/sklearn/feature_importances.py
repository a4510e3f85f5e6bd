# %% data
import numpy as np
rng = np.random.default_rng(1)
X = rng.normal(size=(80, 4))
y = (X[:, 0] + 0.5 * X[:, 2] > 0).astype(int)
features = ["age", "income", "tenure", "visits"]
# %% program
import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier

forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
importances = forest.feature_importances_
indices = np.argsort(importances)
plt.figure(figsize=(8, 4))
plt.title("Feature importances")
plt.barh(range(len(indices)), importances[indices], color="b", align="center")
plt.yticks(range(len(indices)), [features[i] for i in indices])
plt.xlabel("Relative importance")
plt.tight_layout()
plt.show()
# %% expected
from sklearn.ensemble import RandomForestClassifier
imp = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y).feature_importances_
ranked = sorted(zip(imp.tolist(), features))
expected = [{"kind": "bar", "orientation": "horizontal", "title": "Feature importances", "y": {"scale": "category", "ticks": [n for _, n in ranked]},
    "series": [{"kind": "bar", "columns": {"x": [v for v, _ in ranked], "y": [n for _, n in ranked]}}]}]
