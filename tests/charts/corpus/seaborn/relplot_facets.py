# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(22)
df = pd.DataFrame({"x": rng.random(40), "y": rng.random(40), "k": ["k1", "k2"] * 20, "c": ["c1"] * 20 + ["c2"] * 20})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
g = sns.relplot(data=df, x="x", y="y", hue="k", col="c")
g.set_axis_labels("X", "Y")
plt.show()
# %% expected
def pick(c, k):
    d = df[(df.c == c) & (df.k == k)]
    return {"kind": "scatter", "label": k, "columns": {"x": d.x.to_numpy(), "y": d.y.to_numpy()}}
expected = [{"kind": "multi", "charts": [{"kind": "scatter", "title": f"c = {c}", "x": {"label": "X"}, "series": [pick(c, "k1"), pick(c, "k2")]} for c in ("c1", "c2")]}]
