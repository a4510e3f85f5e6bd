# %% data
import numpy as np
rng = np.random.default_rng(13)
x, y = rng.normal(size=1000), rng.normal(size=1000) * 2
# %% program
import matplotlib.pyplot as plt
h = plt.hist2d(x, y, bins=(8, 6), cmap="Blues")
plt.colorbar(h[3], label="points")
plt.show()
# %% expected
H, xe, ye = np.histogram2d(x, y, bins=(8, 6))
expected = [{"kind": "heatmap", "z": {"label": "points"}, "series": [{"kind": "heatmap", "columns": {"x": (xe[1:] + xe[:-1]) / 2, "y": (ye[1:] + ye[:-1]) / 2, "z": H.T}}]}]
