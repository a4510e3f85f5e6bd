# %% data
import pandas as pd
df = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "rain": [40, 35, 50], "temp": [2.5, 4.0, 8.5]})

# %% program
import altair as alt

base = alt.Chart(df).encode(x=alt.X("month:N", sort=None, title=None))
rain = base.mark_bar().encode(y=alt.Y("rain:Q", title="Rain (mm)"))
rain_text = base.mark_text(dy=-5).encode(y="rain:Q", text="rain:Q")
temp = base.mark_line().encode(y=alt.Y("temp:Q", title="Temperature (°C)"))
dots = base.mark_point(filled=True).encode(y=alt.Y("temp:Q", title="Temperature (°C)"))
left = alt.layer(rain, rain_text)
right = alt.layer(temp, dots)
alt.layer(left, right).resolve_scale(y="independent")

# %% expected
expected = [{"kind": "bar", "y": {"label": "Rain (mm)"}, "y2": {"label": "Temperature (°C)"}, "series": [
    {"kind": "bar", "axis": "y", "columns": {"x": df.month, "y": df.rain}},
    {"kind": "line", "axis": "y2", "columns": {"x": df.month, "y": df.temp}},
    {"kind": "scatter", "axis": "y2", "columns": {"x": df.month, "y": df.temp}}]}]
