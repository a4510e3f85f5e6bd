# %% data
only_a, only_b, both = 30, 18, 12
# %% program
import matplotlib.pyplot as plt
from matplotlib.patches import Circle

fig, ax = plt.subplots(figsize=(6, 4))
ax.add_patch(Circle((-0.5, 0), 1, alpha=0.4, color="tab:red", label="A"))
ax.add_patch(Circle((0.5, 0), 1.25, alpha=0.4, color="tab:blue", label="B"))
ax.text(-1, 0, str(only_a), ha="center", fontsize=14)
ax.text(1.1, 0, str(only_b), ha="center", fontsize=14)
ax.text(0.05, 0, str(both), ha="center", fontsize=14)
ax.set_xlim(-2, 2.2)
ax.set_ylim(-1.5, 1.5)
ax.set_aspect("equal")
ax.axis("off")
ax.legend(loc="upper left")
ax.set_title("Customers of A and B")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Customers of A and B", "annotations": [{"text": str(t)} for t in (only_a, only_b, both)], "series": [
    {"kind": "other", "label": "A", "columns": {"x": [-0.5], "y": [0], "radius": [1]}},
    {"kind": "other", "label": "B", "columns": {"x": [0.5], "y": [0], "radius": [1.25]}}]}]
