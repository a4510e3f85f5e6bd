# %% data
import numpy as np
m = np.array([[1.0, np.nan], [0.5, 2.0]])
# %% program
import matplotlib.pyplot as plt
plt.matshow(m)
plt.show()
# %% expected
expected = [{"kind": "heatmap", "series": [{"kind": "heatmap", "columns": {"x": [0, 1], "y": [0, 1], "z": [[1.0, None], [0.5, 2.0]]}}]}]
