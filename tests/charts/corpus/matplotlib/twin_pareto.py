# %% data
import numpy as np
causes = ["Scratch", "Dent", "Crack", "Stain"]
counts = np.array([45, 30, 15, 10])
# %% program
import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

order = np.argsort(counts)[::-1]
sorted_counts = counts[order]
labels = [causes[i] for i in order]
cumulative = sorted_counts.cumsum() / sorted_counts.sum() * 100

fig, ax = plt.subplots(figsize=(8, 5))
ax.bar(labels, sorted_counts, color="C0")
ax2 = ax.twinx()
ax2.plot(labels, cumulative, color="C1", marker="D", ms=7)
ax2.yaxis.set_major_formatter(PercentFormatter())
ax2.set_ylim(0, 110)
ax2.axhline(80, color="gray", linestyle="dashed")
ax.set_ylabel("Defects")
ax2.set_ylabel("Cumulative share")
ax.set_title("Pareto chart of defects")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Pareto chart of defects", "x": {"scale": "category", "ticks": causes}, "y": {"label": "Defects"}, "y2": {"label": "Cumulative share"},
    "series": [{"kind": "bar", "axis": "y", "columns": {"x": causes, "y": counts}},
               {"kind": "line", "axis": "y2", "columns": {"x": causes, "y": [45.0, 75.0, 90.0, 100.0]}},
               {"kind": "rule", "axis": "y2", "columns": {"y": [80]}}]}]
