# %% data
import numpy as np
v = np.random.default_rng(8).normal(size=80)
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.kdeplot(v, fill=True)
plt.xlabel("value")
plt.show()
# %% expected
h = v.std(ddof=1) * len(v) ** (-1 / 5)
at = np.linspace(v.min() - 3 * h, v.max() + 3 * h, 200)
d = np.exp(-0.5 * ((at[:, None] - v) / h) ** 2).sum(axis=1) / (len(v) * h * np.sqrt(2 * np.pi))
expected = [{"kind": "area", "x": {"label": "value"}, "series": [{"kind": "area", "columns": {"x": at, "y": d}}]}]
