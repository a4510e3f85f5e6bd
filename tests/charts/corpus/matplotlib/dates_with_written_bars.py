# %% data
import datetime as dt
days = [dt.date(2024, 5, d) for d in (6, 7, 8)]
sales = [5, 9, 7]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.bar(days, sales, width=0.8, color="olive")
ax.set_xticks(days)
ax.set_xticklabels(["Mon", "Tue", "Wed"])
ax.plot(days, sales, "k--")
ax.set_ylabel("Sales")
ax.set_title("Start of the week")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Start of the week", "x": {"scale": "category", "ticks": ["Mon", "Tue", "Wed"]}, "series": [
    {"kind": "bar", "columns": {"x": ["Mon", "Tue", "Wed"], "y": sales}}, {"kind": "line", "columns": {"x": ["Mon", "Tue", "Wed"], "y": sales}}]}]
