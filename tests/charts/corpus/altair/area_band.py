# %% data
import pandas as pd
df = pd.DataFrame({"t": range(5), "low": [0, 1, 1, 2, 2], "high": [2, 3, 4, 4, 5], "mid": [1, 2, 2.5, 3, 3.5]})

# %% program
import altair as alt

band = alt.Chart(df).mark_area(opacity=0.3).encode(x="t:Q", y="low:Q", y2="high:Q")
line = alt.Chart(df).mark_line().encode(x="t:Q", y="mid:Q")
alt.layer(band, line).show()

# %% expected
expected = [{"kind": "line", "series": [
    {"kind": "area", "columns": {"x": df.t, "y": df.low, "y_base": df.high}},
    {"kind": "line", "columns": {"x": df.t, "y": df.mid}}]}]
