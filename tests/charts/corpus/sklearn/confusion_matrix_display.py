# %% data
y_true = ["cat", "dog", "cat", "cow", "dog", "cow", "cat", "dog"]
y_pred = ["cat", "dog", "dog", "cow", "dog", "cat", "cat", "cow"]
# %% program
import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score, confusion_matrix

labels = ["cat", "cow", "dog"]
cm = confusion_matrix(y_true, y_pred, labels=labels)
print(f"Accuracy: {accuracy_score(y_true, y_pred):.2f}")

fig, ax = plt.subplots(figsize=(5, 4))
disp = ConfusionMatrixDisplay(confusion_matrix=cm, display_labels=labels)
disp.plot(cmap="Blues", ax=ax, xticks_rotation=45)
ax.set_title("Animals")
plt.tight_layout()
plt.show()
# %% expected
names = ["cat", "cow", "dog"]
cells = [[sum(t == a and p == b for t, p in zip(y_true, y_pred)) for b in names] for a in names]
expected = [{"kind": "heatmap", "title": "Animals", "x": {"label": "Predicted label", "scale": "category", "ticks": names}, "y": {"label": "True label", "scale": "category", "ticks": names},
    "series": [{"kind": "heatmap", "columns": {"x": names, "y": names, "z": cells}}]}]
