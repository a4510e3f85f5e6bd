# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(23)
df = pd.DataFrame({"p": rng.normal(size=50), "q": rng.normal(size=50)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.jointplot(data=df, x="p", y="q", marginal_kws=dict(bins=6))
plt.show()
# %% expected
def hist(v):
    c, e = np.histogram(v, 6)
    return {"start": e[:-1], "end": e[1:], "count": c}
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "series": [{"kind": "scatter", "columns": {"x": df.p.to_numpy(), "y": df.q.to_numpy()}}]},
    {"kind": "histogram", "orientation": "vertical", "series": [{"kind": "histogram", "columns": hist(df.p)}]},
    {"kind": "histogram", "orientation": "horizontal", "series": [{"kind": "histogram", "columns": hist(df.q)}]}]}]
