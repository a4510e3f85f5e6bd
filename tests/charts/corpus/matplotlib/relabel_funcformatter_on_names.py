# %% data
stages = ["lead", "qualified", "proposal", "won"]
counts = [1000, 420, 150, 60]
# %% program
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

fig, ax = plt.subplots()
ax.bar(stages, counts, color="teal")


def pretty(value, position):
    index = int(round(value))
    return f"{index + 1}. {stages[index].title()}" if 0 <= index < len(stages) else ""


ax.xaxis.set_major_formatter(FuncFormatter(pretty))
ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
ax.set_title("Sales funnel")
ax.set_ylabel("Count")
plt.show()
# %% expected
shown = [f"{i}. {s.title()}" for i, s in enumerate(stages, 1)]
expected = [{"kind": "bar", "title": "Sales funnel", "x": {"scale": "category", "ticks": shown}, "y": {"scale": "linear", "label": "Count"},
    "series": [{"kind": "bar", "columns": {"x": shown, "y": counts}}]}]
