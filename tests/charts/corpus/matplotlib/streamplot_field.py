# %% data
import numpy as np
x = np.linspace(-1, 1, 5)
y = np.linspace(-1, 1, 4)
X, Y = np.meshgrid(x, y)
U, V = -1 - X**2 + Y, 1 + X - Y**2
# %% program
import matplotlib.pyplot as plt

speed = np.sqrt(U**2 + V**2)
fig, ax = plt.subplots(figsize=(6, 5))
stream = ax.streamplot(X, Y, U, V, color=speed, cmap="autumn", density=0.6)
fig.colorbar(stream.lines, ax=ax, label="Speed")
ax.set_title("Flow field")
ax.set_xlabel("x")
ax.set_ylabel("y")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Flow field", "x": {"label": "x"}, "y": {"label": "y"}, "z": {"label": "Speed"},
    "series": [{"kind": "other", "columns": {"x": X.ravel(), "y": Y.ravel(), "u": U.ravel(), "v": V.ravel()}}]}]
