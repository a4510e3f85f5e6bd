# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(11)
df = pd.DataFrame({"g": np.repeat(["x", "y", "z"], 30), "v": rng.normal(size=90)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.violinplot(data=df, x="g", y="v", inner="quart")
plt.show()
# %% expected
s = [df.v[df.g == g].to_numpy() for g in "xyz"]
expected = [{"kind": "violin", "orientation": "vertical", "series": [{"kind": "violin", "columns": {"label": list("xyz"), "min": [v.min() for v in s], "median": [np.median(v) for v in s], "max": [v.max() for v in s]}}]}]
