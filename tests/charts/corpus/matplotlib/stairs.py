# %% data
import numpy as np
rng = np.random.default_rng(12)
counts, edges = np.histogram(rng.normal(size=500), bins=20)
# %% program
import matplotlib.pyplot as plt
plt.stairs(counts, edges, fill=True, label="counts")
plt.legend()
plt.show()
# %% expected
expected = [{"kind": "histogram", "series": [{"kind": "histogram", "label": "counts", "columns": {"start": edges[:-1], "end": edges[1:], "count": counts}}]}]
