# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(18)
x = rng.uniform(0, 10, 40)
df = pd.DataFrame({"x": x, "y": 2 * x + 1 + rng.normal(size=40)})

# %% program
import altair as alt

points = alt.Chart(df).mark_point().encode(x="x", y="y")
chart = points + points.transform_regression("x", "y").mark_line()
chart

# %% expected
slope, start = np.polyfit(df.x, df.y, 1)
ends = np.array([df.x.min(), df.x.max()])
expected = [{"kind": "scatter", "series": [
    {"kind": "scatter", "columns": {"x": df.x, "y": df.y}},
    {"kind": "line", "columns": {"x": ends, "y": start + slope * ends}}]}]
