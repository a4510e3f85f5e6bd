# %% data
codes = ["a", "b", "c"]
names = ["Alpha", "Beta", "Gamma"]
values = [12, 7, 19]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4))
bars = ax.bar(codes, values, color=["#4c72b0", "#dd8452", "#55a868"], edgecolor="black")

# Use friendlier names on the axis
ax.set_xticks([0, 1, 2], names)

for bar, value in zip(bars, values):
    ax.text(bar.get_x() + bar.get_width() / 2, value + 0.3, str(value), ha="center")

ax.set_title("Units sold by product")
ax.set_xlabel("Product")
ax.set_ylabel("Units")
ax.set_ylim(0, 22)
ax.grid(axis="y", alpha=0.3)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Units sold by product", "orientation": "vertical",
    "x": {"label": "Product", "scale": "category", "ticks": names}, "y": {"label": "Units", "scale": "linear"},
    "annotations": [{"text": str(v)} for v in values],
    "series": [{"kind": "bar", "columns": {"x": names, "y": values}}]}]
