# expect: png@cell_end
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter
fig, ax = plt.subplots(figsize=(1, 1))
line, = ax.plot([0, 1])
anim = FuncAnimation(fig, lambda n: line.set_ydata([n, 1]), frames=3)
anim.save('a.gif', writer=PillowWriter())
