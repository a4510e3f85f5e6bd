# %% data
import numpy as np
cm = np.array([[50, 3, 2], [4, 44, 7], [1, 5, 49]])
class_names = ["setosa", "versicolor", "virginica"]
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

plt.figure(figsize=(6, 5))
sns.heatmap(cm, annot=True, fmt="d", cmap="Blues", xticklabels=class_names, yticklabels=class_names,
            cbar_kws={"label": "Count"}, linewidths=0.5)
plt.title("Confusion Matrix")
plt.xlabel("Predicted label")
plt.ylabel("True label")
accuracy = np.trace(cm) / cm.sum()
plt.figtext(0.5, 0.01, f"accuracy = {accuracy:.2%}", ha="center")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Confusion Matrix", "x": {"label": "Predicted label", "scale": "category", "ticks": class_names},
    "y": {"label": "True label", "scale": "category", "ticks": class_names}, "z": {"label": "Count"},
    "series": [{"kind": "heatmap", "columns": {"x": class_names, "y": class_names, "z": cm}}]}]
