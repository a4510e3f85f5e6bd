# %% data
import squarify
parts = {"CPU": 60, "GPU": 30, "Disk": 10}
boxes = squarify.squarify(squarify.normalize_sizes(list(parts.values()), 10, 6), 0, 0, 10, 6)
# %% program
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

fig, ax = plt.subplots(figsize=(6, 4))
for box, (name, size), color in zip(boxes, parts.items(), ("#66c2a5", "#fc8d62", "#8da0cb")):
    ax.add_patch(Rectangle((box["x"], box["y"]), box["dx"], box["dy"], facecolor=color, edgecolor="white"))
    ax.text(box["x"] + box["dx"] / 2, box["y"] + box["dy"] / 2, f"{name}\n{size}%", ha="center", va="center")
ax.set_xlim(0, 10)
ax.set_ylim(0, 6)
ax.set_axis_off()
ax.set_title("Power budget")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Power budget", "annotations": [{"text": f"{n}\n{s}%"} for n, s in parts.items()],
    "series": [{"kind": "other", "columns": {"x": [b["x"] for b in boxes], "y": [b["y"] for b in boxes], "width": [b["dx"] for b in boxes], "height": [b["dy"] for b in boxes]}}]}]
