# %% data
cities = ["Berlin", "Madrid", "Wien"]
people = [3.6, 3.3, 1.9]
area = [891, 604, 415]
# %% program
import matplotlib.pyplot as plt

fig, ax1 = plt.subplots(figsize=(8, 5))
ax2 = ax1.twinx()
ax1.bar(cities, people, width=-0.35, align="edge", color="tab:blue", label="Population")
ax2.bar(cities, area, width=0.35, align="edge", color="tab:orange", label="Area")
ax1.set_ylabel("Population (millions)", color="tab:blue")
ax2.set_ylabel("Area (km²)", color="tab:orange")
ax1.tick_params(axis="y", labelcolor="tab:blue")
ax2.tick_params(axis="y", labelcolor="tab:orange")
ax1.set_title("Capitals")
fig.legend(loc="upper right")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Capitals", "x": {"scale": "category", "ticks": cities}, "y": {"label": "Population (millions)"}, "y2": {"label": "Area (km²)"},
    "series": [{"kind": "bar", "label": "Population", "axis": "y", "columns": {"x": cities, "y": people}},
               {"kind": "bar", "label": "Area", "axis": "y2", "columns": {"x": cities, "y": area}}]}]
