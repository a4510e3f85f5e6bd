# %% data
from datetime import datetime, timedelta
start = datetime(2024, 1, 1)
dates = [start + timedelta(days=i) for i in range(30)]
temps = [10 + (i * 7) % 11 - 0.3 * i for i in range(30)]
# %% program
import matplotlib.pyplot as plt
import matplotlib.dates as mdates

fig, ax = plt.subplots(figsize=(12, 5))
ax.plot(dates, temps, color='tab:orange', label='Temperature')
ax.xaxis.set_major_formatter(mdates.DateFormatter('%b %d'))
ax.xaxis.set_major_locator(mdates.WeekdayLocator(interval=1))
plt.setp(ax.get_xticklabels(), rotation=45, ha='right')
ax.set_xlabel('Date')
ax.set_ylabel('Temperature (°C)')
ax.set_title('January 2024')
ax.legend()
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "January 2024", "x": {"label": "Date", "scale": "datetime"},
    "y": {"label": "Temperature (°C)", "scale": "linear"},
    "series": [{"kind": "line", "label": "Temperature",
                "columns": {"x": [d.date().isoformat() for d in dates], "y": temps}}]}]
