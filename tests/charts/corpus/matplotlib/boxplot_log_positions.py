# %% data
import numpy as np
rng = np.random.default_rng(8)
sizes = [0.1, 1, 10, 100]
samples = [np.round(rng.uniform(1, 9, 9), 2) for _ in sizes]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
logs = np.log10(sizes)
ax.boxplot(samples, positions=10**logs, widths=[s * 0.4 for s in sizes], whis=(0, 100), manage_ticks=False)
ax.set_xscale("log")
ax.set_xlim(0.03, 300)
ax.set_xlabel("Concentration (uM)")
ax.set_ylabel("Signal")
ax.set_title("Dose and signal")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "box", "title": "Dose and signal", "x": {"scale": "log", "label": "Concentration (uM)"}, "series": [{"kind": "box", "columns": {
    "label": ["0.1", "1", "10", "100"], "median": [sorted(s)[4] for s in samples], "max": [max(s) for s in samples]}}]}]
