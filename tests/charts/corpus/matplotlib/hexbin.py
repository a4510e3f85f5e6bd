# %% data
import numpy as np
rng = np.random.default_rng(33)
x, y = rng.normal(size=500), rng.normal(size=500)
# %% program
import matplotlib.pyplot as plt
hb = plt.hexbin(x, y, gridsize=10, cmap="inferno", mincnt=1)
plt.colorbar(hb, label="count")
plt.title("hex")
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "hex", "z": {"label": "count"}, "series": [{"kind": "scatter"}]}]
