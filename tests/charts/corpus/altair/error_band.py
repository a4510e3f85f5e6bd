# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(12)
df = pd.DataFrame({"x": np.tile(np.arange(6), 8), "y": rng.normal(size=48)})

# %% program
import altair as alt

line = alt.Chart(df).mark_line().encode(x="x", y="mean(y)")
band = alt.Chart(df).mark_errorband(extent="stderr").encode(x="x", y=alt.Y("y", title="Y"))
(band + line).show()

# %% expected
g = df.groupby("x").y
m, e = g.mean(), g.std() / np.sqrt(8)
expected = [{"kind": "line", "series": [
    {"kind": "area", "columns": {"x": m.index, "y": m + e, "y_base": m - e}},
    {"kind": "line", "columns": {"x": m.index, "y": m}}]}]
