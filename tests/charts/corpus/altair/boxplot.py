# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(10)
df = pd.DataFrame({"g": np.repeat(["a", "b"], 30), "v": rng.standard_t(2, 60)})

# %% program
import altair as alt

alt.Chart(df).mark_boxplot().encode(x="g:N", y="v:Q")

# %% expected
rows = {k: [] for k in ("label", "min", "q1", "median", "q3", "max", "outliers")}
for g in "ab":
    v = np.sort(df[df.g == g].v.to_numpy())
    q1, m, q3 = np.quantile(v, [0.25, 0.5, 0.75])
    inside = v[(v >= q1 - 1.5 * (q3 - q1)) & (v <= q3 + 1.5 * (q3 - q1))]
    for k, x in zip(rows, (g, inside[0], q1, m, q3, inside[-1], v[(v < inside[0]) | (v > inside[-1])])):
        rows[k].append(x)
expected = [{"kind": "box", "orientation": "vertical", "series": [{"kind": "box", "columns": rows}]}]
