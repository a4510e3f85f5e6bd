# %% data
from datetime import datetime
tasks = ["design", "build", "test"]
starts = [datetime(2024, 1, 1), datetime(2024, 1, 10), datetime(2024, 2, 1)]
days = [9, 22, 14]
# %% program
import matplotlib.pyplot as plt
import matplotlib.dates as mdates
fig, ax = plt.subplots()
ax.barh(tasks, days, left=mdates.date2num(starts))
ax.xaxis_date()
ax.set_title("Plan")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Plan", "orientation": "horizontal", "x": {"scale": "datetime"}, "series": [
    {"kind": "bar", "columns": {"x": days, "y": tasks, "base": [s.date().isoformat() for s in starts]}}]}]
