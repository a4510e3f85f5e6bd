# %% data
import pandas as pd
import numpy as np
rng = np.random.default_rng(2)
df = pd.DataFrame({"h": rng.normal(size=100), "w": rng.uniform(size=100)})
# %% program
import matplotlib.pyplot as plt
df.hist(bins=10, figsize=(8, 4))
plt.suptitle("All columns")
plt.show()
# %% expected
def hist(v):
    c, e = np.histogram(v, 10)
    return {"start": e[:-1], "end": e[1:], "count": c}
expected = [{"kind": "multi", "library": "pandas", "title": "All columns", "charts": [
    {"kind": "histogram", "title": c, "row": 0, "column": i, "series": [{"kind": "histogram", "columns": hist(df[c])}]} for i, c in enumerate(df)]}]
