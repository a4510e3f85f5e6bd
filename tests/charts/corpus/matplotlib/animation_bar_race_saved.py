# %% data
years = [2020, 2021, 2022]
table = {"A": [1, 4, 9], "B": [3, 5, 6]}
# %% program
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter

fig, ax = plt.subplots(figsize=(4, 3))


def draw(i):
    ax.clear()
    ax.barh(list(table), [values[i] for values in table.values()], color=["C0", "C1"])
    ax.set_xlim(0, 10)
    ax.set_title(str(years[i]))


anim = FuncAnimation(fig, draw, frames=len(years), repeat=False)
anim.save("race.gif", writer=PillowWriter(fps=2))
draw(2)
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "title": "2022", "unread": ["other frames of an animation"],
    "series": [{"kind": "bar", "columns": {"x": [9, 6], "y": ["A", "B"]}}]}]
