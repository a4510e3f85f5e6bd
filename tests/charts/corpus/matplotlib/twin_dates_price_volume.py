# %% data
import numpy as np
import pandas as pd
days = pd.bdate_range("2024-03-04", periods=6)
close = np.array([101.5, 103.0, 102.25, 105.0, 104.5, 107.75])
volume = np.array([1200, 1500, 900, 2100, 1700, 2600])
# %% program
import matplotlib.dates as mdates
import matplotlib.pyplot as plt

fig, ax1 = plt.subplots(figsize=(9, 5))
ax1.plot(days, close, color="navy", label="Close")
ax1.set_ylabel("Price ($)")
ax1.xaxis.set_major_formatter(mdates.DateFormatter("%d.%m."))
ax2 = ax1.twinx()
ax2.bar(days, volume, alpha=0.3, color="gray", label="Volume")
ax2.set_ylabel("Volume")
ax2.set_ylim(0, volume.max() * 4)
ax1.set_title("Price and volume")
ax1.legend(loc="upper left")
ax2.legend(loc="upper right")
fig.autofmt_xdate()
plt.show()
# %% expected
when = [d.date().isoformat() for d in days]
expected = [{"kind": "line", "title": "Price and volume", "x": {"scale": "datetime"}, "y": {"label": "Price ($)"}, "y2": {"label": "Volume"},
    "series": [{"kind": "line", "label": "Close", "axis": "y", "columns": {"x": when, "y": close}},
               {"kind": "bar", "label": "Volume", "axis": "y2", "columns": {"x": when, "y": volume}}]}]
