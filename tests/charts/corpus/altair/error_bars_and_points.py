# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(11)
df = pd.DataFrame({"variety": np.repeat(["p", "q", "r"], 12), "y": rng.normal(30, 5, 36)})

# %% program
import altair as alt

bars = alt.Chart(df).mark_errorbar(extent="stdev").encode(x=alt.X("y:Q").scale(zero=False), y="variety:N")
points = alt.Chart(df).mark_point(filled=True, color="black").encode(x="mean(y):Q", y="variety:N")
bars + points

# %% expected
g = df.groupby("variety").y
m, s = g.mean(), g.std()
expected = [{"kind": "errorbar", "series": [
    {"kind": "errorbar", "columns": {"y": m.index, "x": m, "x_low": m - s, "x_high": m + s}},
    {"kind": "scatter", "columns": {"x": m, "y": m.index}}]}]
