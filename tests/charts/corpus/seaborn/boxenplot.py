# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(28)
df = pd.DataFrame({"g": np.repeat(["a", "b"], 100), "v": rng.normal(size=200)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.boxenplot(data=df, x="g", y="v")
plt.show()
# %% expected
def p(q): return [np.percentile(df.v[df.g == g], q) for g in "ab"]
expected = [{"kind": "box", "series": [{"kind": "box", "columns": {"label": ["a", "b"], "min": p(0), "q1": p(25), "median": p(50), "q3": p(75), "max": p(100)}}]}]
