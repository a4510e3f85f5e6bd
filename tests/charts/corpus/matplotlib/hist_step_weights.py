# %% data
import numpy as np
rng = np.random.default_rng(9)
v = rng.beta(2, 5, 500)
w = rng.uniform(0.5, 1.5, 500)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.hist(v, bins=12, weights=w, histtype="step", label="weighted")
ax.hist(v, bins=12, histtype="stepfilled", alpha=0.3, label="plain")
ax.legend()
plt.show()
# %% expected
c1, edges = np.histogram(v, bins=12, weights=w)
c2, _ = np.histogram(v, bins=12)
expected = [{"kind": "histogram", "stacking": "overlaid", "series": [
    {"kind": "histogram", "label": "weighted", "columns": {"start": edges[:-1], "end": edges[1:], "count": c1}},
    {"kind": "histogram", "label": "plain", "columns": {"start": edges[:-1], "end": edges[1:], "count": c2}}]}]
