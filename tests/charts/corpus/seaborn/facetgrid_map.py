# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(25)
df = pd.DataFrame({"v": rng.normal(size=60), "g": ["one", "two", "three"] * 20})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
g = sns.FacetGrid(df, col="g", col_wrap=2)
g.map(plt.hist, "v", bins=5)
g.figure.suptitle("Facets")
plt.show()
# %% expected
def hist(v):
    c, e = np.histogram(v, 5)
    return {"start": e[:-1], "end": e[1:], "count": c}
expected = [{"kind": "multi", "title": "Facets", "charts": [{"kind": "histogram", "title": f"g = {k}", "series": [{"kind": "histogram", "columns": hist(df.v[df.g == k])}]} for k in ("one", "two", "three")]}]
