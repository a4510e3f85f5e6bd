# %% data
import numpy as np
depth = np.array([0, 10, 20, 30])
lo, hi = np.array([1.0, 1.5, 1.2, 0.9]), np.array([2.0, 2.5, 2.6, 2.1])
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.fill_betweenx(depth, lo, hi, color="c")
ax.invert_yaxis()
ax.set_ylabel("depth")
plt.show()
# %% expected
expected = [{"kind": "area", "y": {"label": "depth"}, "series": [{"kind": "area", "columns": {"y": depth, "x": hi, "x_base": lo}}]}]
