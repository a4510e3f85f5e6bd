# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(10)
df = pd.DataFrame({"g": np.repeat(["a", "b"], 20), "h": ["u", "v"] * 20, "y": rng.normal(size=40)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.boxplot(data=df, x="g", y="y", hue="h", showfliers=False)
plt.show()
# %% expected
def q(h, p): return [np.percentile(df.y[(df.g == g) & (df.h == h)], p) for g in "ab"]
expected = [{"kind": "box", "stacking": "grouped", "series": [{"kind": "box", "label": h, "columns": {"label": ["a", "b"], "q1": q(h, 25), "median": q(h, 50), "q3": q(h, 75)}} for h in "uv"]}]
