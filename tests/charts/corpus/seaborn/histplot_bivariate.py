# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(6)
df = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot(data=df, x="a", y="b", bins=(5, 4), cbar=True)
plt.show()
# %% expected
h, xe, ye = np.histogram2d(df.a, df.b, bins=(5, 4))
z = [[v or None for v in row] for row in h.T.tolist()]
expected = [{"kind": "heatmap", "x": {"label": "a"}, "series": [{"kind": "heatmap", "columns": {"x": (xe[1:] + xe[:-1]) / 2, "y": (ye[1:] + ye[:-1]) / 2, "z": z}}]}]
