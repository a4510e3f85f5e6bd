# %% data
import numpy as np
rng = np.random.default_rng(7)
x = [rng.exponential(s, 200) for s in (1, 2, 3)]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.hist(x, bins=8, label=["one", "two", "three"])
ax.legend()
ax.set_title("side by side")
plt.show()
# %% expected
edges = np.histogram_bin_edges(np.concatenate(x), bins=8)
expected = [{"kind": "histogram", "title": "side by side", "stacking": "grouped", "series": [
    {"kind": "histogram", "label": n, "columns": {"start": edges[:-1], "end": edges[1:], "count": np.histogram(v, edges)[0]}} for n, v in zip(["one", "two", "three"], x)]}]
