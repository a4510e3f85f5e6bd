# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"d": pd.date_range("2023-11-20", periods=30), "v": np.random.default_rng(23).normal(size=30)})

# %% program
import altair as alt

base = alt.Chart(df).encode(x="d:T")
line = base.transform_window(mean="mean(v)", frame=[-2, 2], sort=[alt.SortField("d")]).mark_line(color="red").encode(y="mean:Q")
base.mark_point(opacity=0.3).encode(y=alt.Y("v:Q", title="value")) + line

# %% expected
days = [d.strftime("%Y-%m-%d") for d in df.d]
expected = [{"kind": "scatter", "y": {"label": "value"}, "series": [
    {"kind": "scatter", "columns": {"x": days, "y": df.v}},
    {"kind": "line", "color": "#ff0000", "columns": {"x": days, "y": df.v.rolling(5, center=True, min_periods=1).mean()}}]}]
