# %% data
import numpy as np
names = ["speed", "power", "range", "cost", "comfort"]
a = [4, 3, 5, 2, 4]
angles = [2 * np.pi * i / 5 for i in range(5)]
# %% program
import matplotlib.pyplot as plt
closed = angles + angles[:1]
fig, ax = plt.subplots(figsize=(6, 6), subplot_kw=dict(polar=True))
ax.plot(closed, a + a[:1], linewidth=2, label="car")
ax.fill(closed, a + a[:1], alpha=0.25)
ax.set_xticks(angles)
ax.set_xticklabels(names)
ax.set_title("Radar")
ax.legend()
plt.show()
# %% expected
deg = [72.0 * i for i in range(5)] + [0.0]
expected = [{"kind": "polar", "title": "Radar", "x": {"tick_labels": names, "ticks": deg[:5]}, "series": [
    {"kind": "line", "label": "car", "columns": {"theta": deg, "r": a + a[:1]}}, {"kind": "other"}]}]
