# %% data
import numpy as np
rng = np.random.default_rng(20)
groups = {"low": rng.normal(0, 1, 80), "mid": rng.normal(1, 2, 80), "high": rng.normal(3, 1, 80)}
def box(v):
    q1, med, q3 = np.percentile(v, [25, 50, 75])
    inside = v[(v >= q1 - 1.5 * (q3 - q1)) & (v <= q3 + 1.5 * (q3 - q1))]
    return inside.min(), q1, med, q3, inside.max(), [x for x in v if x < inside.min() or x > inside.max()]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.boxplot(list(groups.values()), showmeans=True)
ax.set_xticklabels(groups.keys())
ax.set_title("Boxes")
ax.set_ylabel("value")
plt.show()
# %% expected
rows = list(zip(*[box(v) for v in groups.values()]))
outliers = [sorted(o, key=lambda x: (x > 0, 0)) for o in rows[5]]
expected = [{"kind": "box", "title": "Boxes", "orientation": "vertical", "y": {"label": "value"}, "series": [{"kind": "box", "columns": {
    "label": list(groups), "min": list(rows[0]), "q1": list(rows[1]), "median": list(rows[2]), "q3": list(rows[3]), "max": list(rows[4]),
    "mean": [v.mean() for v in groups.values()]}}]}]
