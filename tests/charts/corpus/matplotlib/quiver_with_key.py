# %% data
import numpy as np
gx, gy = np.meshgrid(np.arange(0, 3), np.arange(0, 2))
u, v = np.cos(gx * 1.0), np.sin(gy * 1.0)
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
q = ax.quiver(gx, gy, u, v, np.hypot(u, v), cmap="cool")
ax.quiverkey(q, X=0.85, Y=1.05, U=1, label="1 m/s", labelpos="E")
fig.colorbar(q, ax=ax, label="Speed (m/s)")
ax.set_title("Wind")
ax.set_xlabel("East (km)")
ax.set_ylabel("North (km)")
ax.set_aspect("equal")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Wind", "x": {"label": "East (km)"}, "z": {"label": "Speed (m/s)"},
    "series": [{"kind": "other", "columns": {"x": gx.ravel(), "y": gy.ravel(), "u": u.ravel(), "v": v.ravel(), "value": np.hypot(u, v).ravel()}}]}]
