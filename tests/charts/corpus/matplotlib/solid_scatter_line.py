# %% data
import numpy as np
t = np.linspace(0, 4, 30)
# %% program
import matplotlib.pyplot as plt
ax = plt.figure().add_subplot(projection="3d")
ax.scatter(np.sin(t), np.cos(t), t, c="r", label="dots")
ax.plot(np.sin(t), np.cos(t), t, label="helix")
ax.legend()
plt.show()
# %% expected
columns = {"x": np.sin(t), "y": np.cos(t), "z": t}
expected = [{"kind": "scatter3d", "series": [{"kind": "scatter3d", "label": "dots", "color": "#ff0000", "columns": columns}, {"kind": "line3d", "label": "helix", "columns": columns}]}]
