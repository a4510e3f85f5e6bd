# %% data
import numpy as np
quarters = ["2023 Q1", "2023 Q2", "2023 Q3", "2023 Q4", "2024 Q1"]
orders = np.array([120, 150, 90, 170, 210])
target = np.array([130, 140, 150, 160, 170])
# %% program
import matplotlib.pyplot as plt

positions = range(len(quarters))
plt.figure(figsize=(9, 5))
plt.bar(positions, orders, width=0.6, label="Orders", color="#8da0cb")
plt.plot(positions, target, "r--o", label="Target")
plt.xticks(positions, quarters, rotation=30)
plt.ylabel("Orders")
plt.title("Orders against target")
plt.legend(loc="upper left")
for i, v in enumerate(orders):
    if v >= target[i]:
        plt.annotate("met", (i, v), ha="center", va="bottom")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Orders against target", "x": {"scale": "category", "ticks": quarters}, "y": {"label": "Orders"},
    "annotations": [{"text": "met"} for o, t in zip(orders, target) if o >= t],
    "series": [{"kind": "bar", "label": "Orders", "columns": {"x": quarters, "y": orders}},
               {"kind": "line", "label": "Target", "columns": {"x": quarters, "y": target}}]}]
