# %% data
import numpy as np
rng = np.random.default_rng(21)
data = [rng.normal(0, s, 100) for s in (1, 2, 3)]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
parts = ax.violinplot(data, showmedians=True)
ax.set_xticks([1, 2, 3], labels=["narrow", "middle", "wide"])
ax.set_title("Violins")
plt.show()
# %% expected
def density(v):
    at = np.linspace(v.min(), v.max(), 100)
    h = v.std(ddof=1) * len(v) ** (-1 / 5)
    return at, np.exp(-0.5 * ((at[:, None] - v) / h) ** 2).sum(axis=1) / (len(v) * h * np.sqrt(2 * np.pi))
expected = [{"kind": "violin", "title": "Violins", "orientation": "vertical", "series": [{"kind": "violin", "columns": {
    "label": ["narrow", "middle", "wide"], "min": [v.min() for v in data], "median": [np.median(v) for v in data], "max": [v.max() for v in data],
    "values": [density(v)[0] for v in data], "density": [density(v)[1] for v in data]}}]}]
