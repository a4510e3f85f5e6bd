# %% data
import numpy as np
x = np.linspace(0, 2 * np.pi, 20)
# %% program
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation

fig, ax = plt.subplots()
line, = ax.plot(x, np.sin(x), color="blue", label="wave")
ax.set_ylim(-1.2, 1.2)
ax.set_title("Moving wave")
ax.set_xlabel("x")
ax.set_ylabel("sin(x + t)")


def update(frame):
    line.set_ydata(np.sin(x + frame / 10))
    return (line,)


anim = FuncAnimation(fig, update, frames=30, interval=50, blit=False)
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Moving wave", "unread": ["other frames of an animation"],
    "series": [{"kind": "line", "label": "wave", "columns": {"x": x, "y": np.sin(x)}}]}]
