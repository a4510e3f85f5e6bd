# %% data
import numpy as np
x = np.array([0.0, 1.0, 2.0])
y = np.array([0.0, 0.5, 1.0])
u = np.array([10.0, 25.0, -15.0])
v = np.array([5.0, 0.0, 30.0])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 4))
ax.barbs(x, y, u, v, length=7, pivot="middle")
ax.plot(x, y, "k.", markersize=3)
ax.set_xlim(-0.5, 2.5)
ax.set_ylim(-0.5, 1.5)
ax.set_title("Wind barbs")
ax.set_xlabel("Longitude")
ax.set_ylabel("Latitude")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"title": "Wind barbs", "x": {"label": "Longitude"}, "series": [{"kind": "other", "columns": {"x": x, "y": y, "u": u, "v": v}},
    {"kind": "scatter", "columns": {"x": x, "y": y}}]}]
