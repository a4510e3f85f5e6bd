# %% data
import pandas as pd
df = pd.DataFrame({"t": [1, 2, 3], "us": [5.0, 6.0, 7.0], "world": [4.0, 4.5, 5.5]})

# %% program
import altair as alt

alt.Chart(df).mark_line().encode(
    x=alt.X("t:Q", title="Time"),
    y=alt.Y(alt.repeat("layer"), type="quantitative", title="Mean of gross"),
    color=alt.ColorDatum(alt.repeat("layer")),
).properties(
    width=250,
).repeat(
    layer=["us", "world"],
)

# %% expected
expected = [{"kind": "line", "y": {"label": "Mean of gross"}, "series": [
    {"kind": "line", "label": n, "columns": {"x": df.t, "y": df[n]}} for n in ("us", "world")]}]
