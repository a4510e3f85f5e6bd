# %% data
import numpy as np
digit = (np.add.outer(np.arange(8), np.arange(8)) % 16).astype(np.uint8)
# %% program
import matplotlib.pyplot as plt
plt.imshow(digit, cmap="gray")
plt.show()
# %% expected
expected = [{"kind": "image", "series": [{"kind": "image", "columns": {"x": list(range(8)), "y": list(range(8)), "z": digit}}]}]
