# %% data
import numpy as np
rng = np.random.default_rng(1)
a = rng.normal(0, 1, 400)
b = rng.normal(2, 1.5, 300)
edges = np.linspace(-4, 7, 23)
# %% program
import matplotlib.pyplot as plt
plt.hist(a, bins=edges, alpha=0.5, label="a", density=True)
plt.hist(b, bins=edges, alpha=0.5, label="b", density=True)
plt.legend()
plt.show()
# %% expected
def dens(v):
    c = np.histogram(v, edges)[0]
    return c / c.sum() / np.diff(edges)
expected = [{"kind": "histogram", "stacking": "overlaid", "series": [
    {"kind": "histogram", "label": n, "columns": {"start": edges[:-1], "end": edges[1:], "count": dens(v)}} for n, v in (("a", a), ("b", b))]}]
