# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(14)
df = pd.DataFrame(rng.normal(size=(50, 4)), columns=["alpha", "beta", "gamma", "delta"])
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
corr = df.corr()
mask = np.triu(np.ones_like(corr, dtype=bool))
sns.heatmap(corr, mask=mask, center=0, square=True, linewidths=.5)
plt.tight_layout()
plt.savefig("corr.png", dpi=120)
# %% expected
c = df.corr().to_numpy()
z = [[c[i, j] if j < i else None for j in range(4)] for i in range(4)]
expected = [{"kind": "heatmap", "series": [{"kind": "heatmap", "columns": {"x": list(df), "y": list(df), "z": z}}]}]
