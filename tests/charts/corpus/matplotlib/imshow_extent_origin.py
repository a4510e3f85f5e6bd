# %% data
import numpy as np
z = np.arange(12.0).reshape(3, 4) / 7
# %% program
import matplotlib.pyplot as plt
plt.imshow(z, extent=[0, 8, -3, 3], origin="lower", aspect="auto", cmap="coolwarm")
plt.colorbar()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "series": [{"kind": "heatmap", "columns": {"x": [1, 3, 5, 7], "y": [-2, 0, 2], "z": z}}]}]
