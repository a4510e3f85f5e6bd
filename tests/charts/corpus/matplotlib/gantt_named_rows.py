# %% data
tasks = {"Design": (0, 4), "Build": (3, 6), "Test": (8, 3)}
# %% program
import matplotlib.pyplot as plt
from matplotlib.patches import Patch

fig, ax = plt.subplots(figsize=(8, 3))
for row, (name, (start, length)) in enumerate(tasks.items()):
    ax.broken_barh([(start, length)], (row - 0.4, 0.8), facecolors=f"C{row}")
ax.set_yticks(range(len(tasks)), labels=list(tasks))
ax.invert_yaxis()
ax.set_xlabel("Day")
ax.set_title("Plan")
ax.legend(handles=[Patch(color=f"C{i}", label=f"Team {i + 1}") for i in range(3)], loc="lower right")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "title": "Plan", "x": {"label": "Day"}, "y": {"scale": "category", "ticks": list(tasks)},
    "series": [{"kind": "bar", "label": f"Team {i}", "columns": {"x": [n], "y": [name], "base": [s]}} for i, (name, (s, n)) in enumerate(tasks.items(), 1)]}]
