# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(7)
df = pd.DataFrame({"v": np.r_[rng.normal(0, 1, 50), rng.normal(3, 1, 70)], "g": ["p"] * 50 + ["q"] * 70})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.kdeplot(data=df, x="v", hue="g", common_norm=False)
plt.title("Densities")
plt.show()
# %% expected
def kde(v):
    h = v.std(ddof=1) * len(v) ** (-1 / 5)
    at = np.linspace(v.min() - 3 * h, v.max() + 3 * h, 200)
    return {"x": at, "y": np.exp(-0.5 * ((at[:, None] - v) / h) ** 2).sum(axis=1) / (len(v) * h * np.sqrt(2 * np.pi))}
expected = [{"kind": "line", "title": "Densities", "y": {"label": "Density"}, "series": [
    {"kind": "line", "label": s, "columns": kde(df.v[df.g == s].to_numpy())} for s in "pq"]}]
