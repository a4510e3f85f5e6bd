# %% data
import pandas as pd
start = pd.to_datetime(["2024-05-01", "2024-05-06", "2024-05-20"])
length = [5, 14, 3]
# %% program
import matplotlib.pyplot as plt
import matplotlib.dates as mdates
fig, ax = plt.subplots(figsize=(9, 3))
for task, s, n in zip(["plan", "build", "ship"], start, length):
    ax.barh(task, pd.Timedelta(days=n), left=s, height=0.5)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d %b"))
ax.invert_yaxis()
ax.set_title("Project")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Project", "orientation": "horizontal", "x": {"scale": "datetime"}, "series": [
    {"kind": "bar", "columns": {"x": [n], "y": [t], "base": [s.date().isoformat()]}} for t, s, n in zip(["plan", "build", "ship"], start, length)]}]
