# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(396)
df = pd.DataFrame({"v": rng.normal(0, 1, 30), "one": "all"})

# %% program
import altair as alt

alt.Chart(df).transform_density(
    "v",
    as_=["v", "density"],
    bandwidth=0.5,
    extent=[-3, 3],
    steps=6,
).mark_area(opacity=0.5).encode(
    x=alt.X("v:Q", title="Value"),
    y=alt.Y("density:Q", title="Density"),
).properties(title="Estimate", width=250)

# %% expected
x = np.linspace(-3, 3, 7)
d = [float(np.mean(np.exp(-0.5 * ((g - df.v) / 0.5) ** 2) / (0.5 * np.sqrt(2 * np.pi)))) for g in x]
expected = [{"kind": "area", "x": {"label": "Value"}, "series": [{"kind": "area", "columns": {"x": x, "y": d}}]}]
