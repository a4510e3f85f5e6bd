# %% data
import numpy as np
rng = np.random.default_rng(3)
spikes = [np.round(np.sort(rng.uniform(0, 10, n)), 3) for n in (5, 8, 3)]
# %% program
import matplotlib.pyplot as plt

colors = [f"C{i}" for i in range(len(spikes))]
fig, ax = plt.subplots(figsize=(8, 3))
ax.eventplot(spikes, colors=colors, lineoffsets=[1, 2, 3], linelengths=0.8)
ax.set_xlabel("Time (s)")
ax.set_ylabel("Neuron")
ax.set_yticks([1, 2, 3])
ax.set_xlim(0, 10)
ax.set_title("Spike raster plot")
ax.axvspan(4, 5, color="yellow", alpha=0.3)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "Spike raster plot", "x": {"label": "Time (s)"}, "y": {"label": "Neuron"},
    "series": [*[{"kind": "scatter", "columns": {"x": s, "y": [i] * len(s)}} for i, s in enumerate(spikes, 1)],
               {"kind": "other", "columns": {"x": [4, 5]}}]}]
