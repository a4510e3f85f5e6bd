# %% data
import numpy as np
segments = ["Home", "Office", "Other"]
widths = np.array([50.0, 30.0, 20.0])
share = np.array([0.6, 0.45, 0.8])
# %% program
import matplotlib.pyplot as plt

left = np.concatenate([[0], np.cumsum(widths)[:-1]])
fig, ax = plt.subplots(figsize=(8, 5))
ax.bar(left, share, width=widths, align="edge", color="#1b9e77", edgecolor="white", label="Brand A")
ax.bar(left, 1 - share, width=widths, align="edge", bottom=share, color="#d95f02", edgecolor="white", label="Brand B")
for start, w, name in zip(left, widths, segments):
    ax.text(start + w / 2, -0.06, name, ha="center", va="top")
ax.set_xlim(0, 100)
ax.set_xlabel("Market size (%)", labelpad=25)
ax.set_ylabel("Share")
ax.set_title("Marimekko chart")
ax.legend()
plt.tight_layout()
plt.show()
# %% expected
middle = [25.0, 65.0, 90.0]
expected = [{"kind": "bar", "title": "Marimekko chart", "stacking": "stacked", "x": {"scale": "linear", "label": "Market size (%)"}, "annotations": [{"text": s} for s in segments],
    "series": [{"kind": "bar", "label": "Brand A", "columns": {"x": middle, "y": share, "width": widths}},
               {"kind": "bar", "label": "Brand B", "columns": {"x": middle, "y": 1 - share, "base": share, "width": widths}}]}]
