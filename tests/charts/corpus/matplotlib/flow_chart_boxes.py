# %% data
steps = [("Start", 0.5, 3.0), ("Load", 0.5, 2.0), ("Check", 0.5, 1.0)]
# %% program
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

fig, ax = plt.subplots(figsize=(4, 6))
for name, x, y in steps:
    ax.add_patch(FancyBboxPatch((x - 0.3, y - 0.2), 0.6, 0.4, boxstyle="round,pad=0.02", facecolor="wheat"))
    ax.text(x, y, name, ha="center", va="center")
for (_, x0, y0), (_, x1, y1) in zip(steps, steps[1:]):
    ax.annotate("", xy=(x1, y1 + 0.25), xytext=(x0, y0 - 0.25), arrowprops=dict(arrowstyle="->", lw=2))
ax.set_xlim(0, 1)
ax.set_ylim(0.5, 3.5)
ax.axis("off")
ax.set_title("Process")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Process", "annotations": [{"text": n} for n, _, _ in steps], "series": [
    {"kind": "other", "columns": {"x": [0.2, 0.2, 0.2], "y": [2.8, 1.8, 0.8], "width": [0.6] * 3, "height": [0.4] * 3}},
    {"kind": "other", "columns": {"x": [0.5, 0.5], "y": [2.75, 1.75], "x_end": [0.5, 0.5], "y_end": [2.25, 1.25]}}]}]
