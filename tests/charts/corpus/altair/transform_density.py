# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"v": np.random.default_rng(19).normal(10, 2, 60)})

# %% program
import altair as alt

alt.Chart(df).transform_density("v", as_=["v", "density"]).mark_area().encode(x="v:Q", y="density:Q").show()

# %% expected
v = df.v.to_numpy()
q1, q3 = np.quantile(v, [0.25, 0.75])
h = 1.06 * min(v.std(ddof=1), (q3 - q1) / 1.34) * len(v) ** -0.2
grid = np.linspace(v.min(), v.max(), 201)
density = np.exp(-0.5 * ((grid[:, None] - v) / h) ** 2).mean(1) / (h * np.sqrt(2 * np.pi))
expected = [{"kind": "area", "series": [{"kind": "area", "columns": {"x": grid, "y": density}}]}]
