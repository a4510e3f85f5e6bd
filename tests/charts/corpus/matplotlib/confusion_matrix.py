# %% data
import numpy as np
matrix = np.array([[50, 2, 1], [4, 45, 6], [0, 3, 52]])
classes = ["cat", "dog", "fox"]
# %% program
import itertools
import matplotlib.pyplot as plt
plt.imshow(matrix, interpolation="nearest", cmap=plt.cm.Blues)
plt.title("Confusion matrix")
plt.colorbar()
tick_marks = np.arange(len(classes))
plt.xticks(tick_marks, classes, rotation=45)
plt.yticks(tick_marks, classes)
thresh = matrix.max() / 2.0
for i, j in itertools.product(range(3), range(3)):
    plt.text(j, i, format(matrix[i, j], "d"), horizontalalignment="center", color="white" if matrix[i, j] > thresh else "black")
plt.ylabel("True label")
plt.xlabel("Predicted label")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Confusion matrix", "x": {"label": "Predicted label", "scale": "category"}, "y": {"label": "True label", "scale": "category"},
    "annotations": [{"text": str(v)} for v in matrix.ravel().tolist()], "series": [{"kind": "heatmap", "columns": {"x": classes, "y": classes, "z": matrix}}]}]
