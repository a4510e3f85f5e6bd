# %% data
import numpy as np
rng = np.random.default_rng(4)
samples = [np.round(rng.normal(m, 1, 21), 3) for m in (5, 6, 8)]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 5))
box = ax.boxplot(samples, patch_artist=True, whis=(0, 100))
for patch, color in zip(box["boxes"], ["pink", "lightblue", "lightgreen"]):
    patch.set_facecolor(color)
ax.set_xticklabels(["Low dose", "Mid dose", "High dose"])
ax.yaxis.grid(True)
ax.set_ylabel("Observed value")
ax.set_title("Response by dose")
plt.tight_layout()
plt.show()
# %% expected
import statistics
names = ["Low dose", "Mid dose", "High dose"]
expected = [{"kind": "box", "title": "Response by dose", "x": {"scale": "category", "ticks": names}, "series": [{"kind": "box", "columns": {
    "label": names, "min": [min(s) for s in samples], "median": [statistics.median(s.tolist()) for s in samples], "max": [max(s) for s in samples]}}]}]
