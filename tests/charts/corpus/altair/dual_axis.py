# %% data
import pandas as pd
df = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "rain": [40, 35, 50], "temp": [2.5, 4.0, 8.5]})

# %% program
import altair as alt

base = alt.Chart(df).encode(x=alt.X("month:O", sort=None))
bars = base.mark_bar(color="#57A44C").encode(y=alt.Y("rain:Q", axis=alt.Axis(title="Rain (mm)")))
line = base.mark_line(color="#5276A7").encode(y=alt.Y("temp:Q", axis=alt.Axis(title="Temperature")))
alt.layer(bars, line).resolve_scale(y="independent")

# %% expected
expected = [{"kind": "bar", "y": {"label": "Rain (mm)"}, "y2": {"label": "Temperature"}, "x": {"ticks": ["Jan", "Feb", "Mar"]},
             "series": [{"kind": "bar", "color": "#57a44c", "columns": {"x": df.month, "y": df.rain}},
                        {"kind": "line", "axis": "y2", "columns": {"x": df.month, "y": df.temp}}]}]
