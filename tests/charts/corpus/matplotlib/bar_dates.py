# %% data
from datetime import date
days = [date(2024, 3, d) for d in (1, 2, 3, 4, 5)]
steps = [8000, 12000, 4500, 9900, 10100]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(days, steps)
ax.set_title("Steps")
fig.autofmt_xdate()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Steps", "x": {"scale": "datetime"}, "series": [{"kind": "bar", "columns": {"x": [d.isoformat() for d in days], "y": steps}}]}]
