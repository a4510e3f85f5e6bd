# %% data
sizes = [500, 250, 120, 80, 50]
labels = ["Rent", "Food", "Travel", "Books", "Other"]
# %% program
import matplotlib.pyplot as plt
import squarify

fig, ax = plt.subplots(figsize=(8, 5))
colors = plt.cm.Set3(range(len(sizes)))
squarify.plot(sizes=sizes, label=labels, value=[f"${s}" for s in sizes], color=colors, alpha=0.8, ax=ax, pad=True)
ax.set_title("Monthly spending")
ax.axis("off")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Monthly spending", "series": [{"kind": "other", "columns": {"label": labels, "value": sizes}}]}]
