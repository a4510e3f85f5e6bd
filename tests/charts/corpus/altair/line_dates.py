# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(4)
df = pd.DataFrame({"date": pd.date_range("2023-01-01", periods=30), "a": rng.normal(size=30).cumsum(),
                   "b": rng.normal(size=30).cumsum()}).melt("date", var_name="series", value_name="value")

# %% program
import altair as alt

chart = alt.Chart(df).mark_line().encode(x="date:T", y="value:Q", color="series:N").interactive()
chart.show()

# %% expected
expected = [{"kind": "line", "x": {"label": "date", "scale": "datetime"}, "series": [
    {"kind": "line", "label": s, "columns": {"x": [d.strftime("%Y-%m-%d") for d in g.date], "y": g.value}}
    for s, g in df.groupby("series")]}]
