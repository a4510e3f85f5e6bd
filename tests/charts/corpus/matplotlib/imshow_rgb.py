# %% data
import numpy as np
rng = np.random.default_rng(40)
img = rng.integers(0, 255, (32, 48, 3), dtype=np.uint8)
# %% program
import matplotlib.pyplot as plt
plt.imshow(img)
plt.axis("off")
plt.title("noise")
plt.show()
# %% expected
expected = [{"kind": "image", "title": "noise", "series": [{"kind": "image", "columns": {"shape": [[32, 48, 3]]}}]}]
