# %% data
import numpy as np
hours = np.arange(6)
density = np.array([0, 1, 2, 3, 2, 1.5])
temperature = np.array([0, 3, 2, 4, 1, 0.5])
velocity = np.array([50, 30, 15, 20, 45, 60])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
fig.subplots_adjust(right=0.75)

twin1 = ax.twinx()
twin2 = ax.twinx()
# Offset the right spine of twin2
twin2.spines.right.set_position(("axes", 1.2))

p1, = ax.plot(hours, density, "C0", label="Density")
p2, = twin1.plot(hours, temperature, "C1", label="Temperature")
p3, = twin2.plot(hours, velocity, "C2", label="Velocity")

ax.set(xlim=(0, 5), ylim=(0, 4), xlabel="Hour", ylabel="Density (kg/l)")
twin1.set(ylim=(0, 5), ylabel="Temperature (°C)")
twin2.set(ylim=(1, 65), ylabel="Velocity (m/s)")
for axis, line in ((ax, p1), (twin1, p2), (twin2, p3)):
    axis.yaxis.label.set_color(line.get_color())
    axis.tick_params(axis="y", colors=line.get_color())
ax.legend(handles=[p1, p2, p3])
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"label": "Hour"}, "y": {"label": "Density (kg/l)", "limits": [0, 4]}, "y2": {"label": "Temperature (°C)", "limits": [0, 5]},
    "more_axes": {"y3": {"label": "Velocity (m/s)", "scale": "linear", "limits": [1, 65]}},
    "series": [{"kind": "line", "label": "Density", "axis": "y", "columns": {"x": hours, "y": density}},
               {"kind": "line", "label": "Temperature", "axis": "y2", "columns": {"x": hours, "y": temperature}},
               {"kind": "line", "label": "Velocity", "axis": "y3", "columns": {"x": hours, "y": velocity}}]}]
