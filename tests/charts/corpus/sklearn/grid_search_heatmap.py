# %% data
import numpy as np
scores = np.array([[0.71, 0.75, 0.74], [0.80, 0.86, 0.83]])
C_range, gamma_range = [1, 10], [0.001, 0.01, 0.1]
# %% program
import matplotlib.pyplot as plt

plt.figure(figsize=(6, 4))
plt.subplots_adjust(left=0.2, right=0.95, bottom=0.15, top=0.95)
plt.imshow(scores, interpolation="nearest", cmap="magma")
plt.xlabel("gamma")
plt.ylabel("C")
plt.colorbar(label="Validation accuracy")
plt.xticks(np.arange(len(gamma_range)), gamma_range, rotation=45)
plt.yticks(np.arange(len(C_range)), C_range)
for (i, j), value in np.ndenumerate(scores):
    plt.text(j, i, f"{value:.2f}", ha="center", va="center", color="white")
plt.title("Validation accuracy")
plt.show()
# %% expected
names = [str(g) for g in gamma_range]
expected = [{"kind": "heatmap", "title": "Validation accuracy", "x": {"label": "gamma", "scale": "category", "ticks": names}, "y": {"label": "C", "ticks": ["1", "10"]}, "z": {"label": "Validation accuracy"},
    "series": [{"kind": "heatmap", "columns": {"x": names, "y": ["1", "10"], "z": scores}}]}]
