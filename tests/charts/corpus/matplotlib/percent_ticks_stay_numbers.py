# %% data
years = [2019, 2020, 2021, 2022]
rate = [0.25, 0.5, 0.75, 0.5]
# %% program
import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

fig, ax = plt.subplots(figsize=(6, 4))
ax.plot(years, rate, "-o", color="crimson")
ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
ax.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
ax.set_xticks(years)
ax.set_ylim(0, 1)
ax.set_xlabel("Year")
ax.set_ylabel("Adoption rate")
ax.set_title("Adoption over time")
ax.grid(True)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Adoption over time", "x": {"label": "Year", "scale": "linear", "ticks": years},
    "y": {"scale": "linear", "ticks": [0, 0.25, 0.5, 0.75, 1], "tick_labels": ["0%", "25%", "50%", "75%", "100%"]},
    "series": [{"kind": "line", "columns": {"x": years, "y": rate}}]}]
