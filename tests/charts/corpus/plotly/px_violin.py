# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(11)
df = pd.DataFrame({"species": np.repeat(["cat", "dog"], 40), "weight": rng.normal(10, 3, 80)})

# %% program
import plotly.express as px

px.violin(df, x="species", y="weight", box=True).show()

# %% expected
rows = {k: [] for k in ("label", "min", "median", "max", "values", "density")}
for name in ["cat", "dog"]:
    v = np.sort(df[df.species == name].weight.to_numpy())
    q1, m, q3 = np.quantile(v, [0.25, 0.5, 0.75], method="hazen")
    h = 1.059 * min(v.std(ddof=1), (q3 - q1) / 1.349) * len(v) ** -0.2
    low, high = v[0] - 2 * h, v[-1] + 2 * h
    n = int(np.ceil((high - low) / (h / 3)))
    grid = np.linspace(low, high, n + 1)
    density = np.exp(-0.5 * ((grid[:, None] - v) / h) ** 2).sum(1) / (len(v) * h * np.sqrt(2 * np.pi))
    for k, value in zip(rows, (name, v[0], m, v[-1], grid, density)):
        rows[k].append(value)
expected = [{"kind": "violin", "orientation": "vertical", "series": [{"kind": "violin", "columns": rows}]}]
