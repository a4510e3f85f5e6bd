# %% data
import pandas as pd
dates = pd.date_range("2024-07-01", periods=5, freq="D")
celsius = [20.0, 25.0, 22.5, 30.0, 27.5]
# %% program
import matplotlib.dates as mdates
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4))
ax.plot(dates, celsius, color="orangered")
ax.set_ylabel("Temperature (°C)")
ax.set_title("A week in July")
ax.xaxis.set_major_formatter(mdates.DateFormatter("%a %d"))
secax = ax.secondary_yaxis("right", functions=(lambda c: c * 1.8 + 32, lambda f: (f - 32) / 1.8))
secax.set_ylabel("Temperature (°F)")
fig.autofmt_xdate()
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "A week in July", "x": {"scale": "datetime"}, "y": {"label": "Temperature (°C)"}, "y2": {"label": "Temperature (°F)"},
    "series": [{"kind": "line", "axis": "y", "columns": {"x": [d.date().isoformat() for d in dates], "y": celsius}}]}]
