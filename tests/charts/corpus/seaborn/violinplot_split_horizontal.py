# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(12)
df = pd.DataFrame({"g": np.repeat(["x", "y"], 40), "h": ["a", "b"] * 40, "v": rng.normal(size=80)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.violinplot(df, y="g", x="v", hue="h", split=True, cut=0)
plt.show()
# %% expected
def grid(h): return [df.v[(df.g == g) & (df.h == h)].to_numpy() for g in "xy"]
expected = [{"kind": "violin", "orientation": "horizontal", "stacking": "grouped", "series": [{"kind": "violin", "label": h, "columns": {"label": ["x", "y"],
    "min": [v.min() for v in grid(h)], "median": [np.median(v) for v in grid(h)], "max": [v.max() for v in grid(h)], "values": [np.linspace(v.min(), v.max(), 100) for v in grid(h)]}} for h in "ab"]}]
