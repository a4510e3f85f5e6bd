# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(24)
df = pd.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.pairplot(df, diag_kws=dict(bins=5))
plt.show()
# %% expected
def hist(v):
    c, e = np.histogram(v, 5)
    return {"kind": "histogram", "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}]}
def dots(x, y): return {"kind": "scatter", "series": [{"kind": "scatter", "columns": {"x": df[x].to_numpy(), "y": df[y].to_numpy()}}]}
expected = [{"kind": "multi", "charts": [hist(df.a), dots("b", "a"), dots("a", "b"), hist(df.b)]}]
