# %% data
import numpy as np
rng = np.random.default_rng(10)
v = rng.gamma(2, 2, 300)
# %% program
import matplotlib.pyplot as plt
n, bins, patches = plt.hist(v, bins=15, orientation="horizontal", cumulative=True)
for count, patch in zip(n, patches):
    patch.set_facecolor(plt.cm.viridis(count / n.max()))
plt.title("cumulative")
plt.show()
# %% expected
c, edges = np.histogram(v, bins=15)
expected = [{"kind": "histogram", "orientation": "horizontal", "title": "cumulative", "series": [
    {"kind": "histogram", "columns": {"start": edges[:-1], "end": edges[1:], "count": np.cumsum(c)}}]}]
