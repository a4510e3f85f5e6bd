# %% data
import numpy as np
year = np.arange(2018, 2024)
budget = np.array([1e6, 1.5e6, 2e6, 2e6, 2.5e6, 3e6])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.step(year, budget, where="mid", color="navy", label="Budget")
ticks = [1e6, 1.5e6, 2e6, 2.5e6, 3e6]
ax.set_yticks(ticks)
ax.set_yticklabels([f"${t / 1e6:.1f}M" for t in ticks])
ax.set_xticks(year)
ax.set_xlabel("Year")
ax.set_title("Budget by year")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "step", "title": "Budget by year", "x": {"scale": "linear", "label": "Year"},
    "y": {"scale": "linear", "ticks": [1e6, 1.5e6, 2e6, 2.5e6, 3e6], "tick_labels": ["$1.0M", "$1.5M", "$2.0M", "$2.5M", "$3.0M"]},
    "series": [{"kind": "step", "label": "Budget", "columns": {"x": year, "y": budget}}]}]
