# %% data
import numpy as np
X = np.array([[0.0, 0.0], [0.5, 0.2], [1.0, 1.2], [1.4, 0.9], [0.1, 0.6], [1.2, 1.5]])
y = np.array([0, 0, 1, 1, 0, 1])
# %% program
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

model = LogisticRegression().fit(X, y)
xx, yy = np.meshgrid(np.linspace(-0.5, 2, 6), np.linspace(-0.5, 2, 5))
Z = model.predict(np.c_[xx.ravel(), yy.ravel()]).reshape(xx.shape)

fig, ax = plt.subplots(figsize=(6, 5))
ax.contourf(xx, yy, Z, alpha=0.3, cmap="coolwarm")
for label, marker in ((0, "o"), (1, "^")):
    ax.scatter(X[y == label, 0], X[y == label, 1], marker=marker, edgecolor="k", label=f"class {label}")
ax.set_xlabel("x1")
ax.set_ylabel("x2")
ax.set_title("Decision boundary")
ax.legend()
plt.show()
# %% expected
from sklearn.linear_model import LogisticRegression
gx, gy = np.linspace(-0.5, 2, 6), np.linspace(-0.5, 2, 5)
model = LogisticRegression().fit(X, y)
cells = [[int(model.predict([[a, b]])[0]) for a in gx] for b in gy]
expected = [{"kind": "contour", "title": "Decision boundary", "series": [{"kind": "contour", "columns": {"x": gx, "y": gy, "z": cells}},
    {"kind": "scatter", "label": "class 0", "columns": {"x": X[y == 0, 0], "y": X[y == 0, 1]}},
    {"kind": "scatter", "label": "class 1", "columns": {"x": X[y == 1, 0], "y": X[y == 1, 1]}}]}]
