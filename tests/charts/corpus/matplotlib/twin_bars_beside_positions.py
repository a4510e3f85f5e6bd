# %% data
import numpy as np
models = ["small", "base", "large", "xl"]
accuracy = np.array([71.0, 78.5, 83.25, 84.0])
latency = np.array([12, 30, 85, 190])
# %% program
import matplotlib.pyplot as plt

x = np.arange(len(models))
width = 0.4
fig, ax = plt.subplots(figsize=(9, 5))
b1 = ax.bar(x - width / 2, accuracy, width, color="#4C72B0", label="Accuracy")
ax.set_ylabel("Accuracy (%)")
ax.set_ylim(60, 100)
ax_right = ax.twinx()
b2 = ax_right.bar(x + width / 2, latency, width, color="#C44E52", label="Latency")
ax_right.set_ylabel("Latency (ms)")
ax.set_xticks(x)
ax.set_xticklabels(models)
ax.legend([b1, b2], ["Accuracy", "Latency"], loc="upper left")
ax.set_title("Accuracy and latency by model")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Accuracy and latency by model", "x": {"scale": "category", "ticks": models}, "y2": {"label": "Latency (ms)"},
    "series": [{"kind": "bar", "label": "Accuracy", "axis": "y", "columns": {"x": models, "y": accuracy}},
               {"kind": "bar", "label": "Latency", "axis": "y2", "columns": {"x": models, "y": latency}}]}]
