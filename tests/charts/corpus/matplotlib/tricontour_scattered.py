# %% data
import numpy as np
rng = np.random.default_rng(9)
x = np.round(rng.uniform(0, 4, 12), 3)
y = np.round(rng.uniform(0, 4, 12), 3)
z = np.round(np.sin(x) * np.cos(y), 4)
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 5))
filled = ax.tricontourf(x, y, z, levels=[-1, -0.5, 0, 0.5, 1], cmap="RdBu_r")
ax.plot(x, y, "ko", ms=3)
fig.colorbar(filled, ax=ax, label="Height")
ax.set_title("Interpolated surface")
ax.set_xlabel("x")
ax.set_ylabel("y")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "contour", "title": "Interpolated surface", "z": {"label": "Height"}, "series": [
    {"kind": "other", "columns": {"x": x, "y": y, "z": z, "levels": [-1, -0.5, 0, 0.5, 1]}}, {"kind": "scatter", "columns": {"x": x, "y": y}}]}]
