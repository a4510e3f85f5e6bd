# %% data
import pandas as pd
laps = pd.Series([0.0, 1.5, 3.2, 4.1], index=pd.to_timedelta([0, 30, 60, 90], unit="s"), name="km")
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4))
laps.plot(ax=ax, marker="o", color="seagreen", label="Distance")
ax.set_xlabel("Elapsed")
ax.set_ylabel("Distance (km)")
ax.set_title("Distance over time")
ax.legend()
ax.grid(alpha=0.4)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Distance over time", "x": {"label": "Elapsed", "scale": "duration"}, "y": {"label": "Distance (km)"},
    "series": [{"kind": "line", "label": "Distance", "columns": {"x": [0, 30, 60, 90], "y": laps.tolist()}}]}]
