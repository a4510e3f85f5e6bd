# %% data
import pandas as pd
import numpy as np
rng = np.random.default_rng(3)
df = pd.DataFrame({"x": rng.normal(size=100), "y": rng.normal(1, 2, size=100)})
# %% program
import matplotlib.pyplot as plt
df.plot(kind="hist", bins=12, alpha=0.5)
plt.show()
# %% expected
e = np.histogram_bin_edges(df.to_numpy().ravel(), 12)
expected = [{"kind": "histogram", "stacking": "overlaid", "series": [
    {"kind": "histogram", "label": c, "columns": {"start": e[:-1], "end": e[1:], "count": np.histogram(df[c], e)[0]}} for c in df]}]
