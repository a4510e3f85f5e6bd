# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(394)
df = pd.DataFrame({"species": np.repeat(["Adelie", "Gentoo"], 20), "mass": np.concatenate([rng.normal(3700, 300, 20), rng.normal(5000, 400, 20)])})

# %% program
import altair as alt

alt.Chart(df).mark_boxplot(extent="min-max", size=40).encode(
    x=alt.X("species:N", title="Species"),
    y=alt.Y("mass:Q", title="Body mass (g)", scale=alt.Scale(zero=False)),
    color=alt.Color("species:N", legend=None),
).properties(
    title="Penguins",
    width=200,
)

# %% expected
def box(s):
    v = np.sort(df[df.species == s].mass)
    q = np.quantile(v, [0.25, 0.5, 0.75])
    return {"label": [s], "min": [v[0]], "q1": [q[0]], "median": [q[1]], "q3": [q[2]], "max": [v[-1]], "outliers": [[]]}
rows = [box(s) for s in ("Adelie", "Gentoo")]
# The colours repeat the names on the axis: one series.
expected = [{"kind": "box", "orientation": "vertical", "y": {"label": "Body mass (g)"}, "series": [
    {"kind": "box", "columns": {k: [v for r in rows for v in r[k]] for k in rows[0]}}]}]
