# %% data
import numpy as np
x = np.array([0.0, 1.0, 2.0, 0.5, 1.5, 1.0])
y = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0])
t = np.array([20.0, 22.0, 25.0, 24.0, 27.0, 30.0])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
mesh = ax.tripcolor(x, y, t, shading="gouraud", cmap="inferno")
ax.triplot(x, y, color="white", lw=0.5)
fig.colorbar(mesh, label="Temperature (°C)")
ax.set_aspect("equal")
ax.set_title("Plate temperature")
ax.set_xlabel("x (m)")
ax.set_ylabel("y (m)")
plt.show()
# %% expected
expected = [{"title": "Plate temperature", "x": {"label": "x (m)"}, "z": {"label": "Temperature (°C)"}, "series": [
    {"kind": "other", "columns": {"x": x, "y": y, "z": t}}, {"kind": "line"}]}]
