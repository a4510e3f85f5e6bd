# %% data
import numpy as np
angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
radii = np.array([3, 5, 2, 7, 1, 4, 6, 2.5])
# %% program
import matplotlib.pyplot as plt
ax = plt.subplot(projection="polar")
ax.bar(angles, radii, width=np.pi / 5, bottom=0.0, alpha=0.5)
plt.show()
# %% expected
expected = [{"kind": "polar", "series": [{"kind": "bar", "columns": {"theta": np.arange(8) * 45.0, "r": radii}}]}]
