# %% data
import numpy as np
cm = np.array([[90, 10], [15, 85]])
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots()
sns.heatmap(cm / cm.sum(axis=1, keepdims=True), annot=cm, fmt="d", cmap="Greens", cbar=False, square=True, ax=ax)
ax.xaxis.set_ticklabels(["ham", "spam"])
ax.yaxis.set_ticklabels(["ham", "spam"], rotation=0)
ax.set_xlabel("Predicted")
ax.set_ylabel("Actual")
ax.set_title("Spam filter")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Spam filter", "x": {"label": "Predicted", "scale": "category", "ticks": ["ham", "spam"]}, "y": {"label": "Actual", "scale": "category"},
    "annotations": [{"text": str(v)} for v in cm.ravel()],
    "series": [{"kind": "heatmap", "columns": {"x": ["ham", "spam"], "y": ["ham", "spam"], "z": [[0.9, 0.1], [0.15, 0.85]]}}]}]
