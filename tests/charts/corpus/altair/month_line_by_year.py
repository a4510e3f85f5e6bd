# %% data
import numpy as np
import pandas as pd
dates = pd.date_range("2022-01-01", "2023-12-31", freq="D")
df = pd.DataFrame({"date": dates, "temp": 10 - 8 * np.cos(2 * np.pi * dates.day_of_year / 365) + (dates.year - 2022)})

# %% program
import altair as alt

alt.data_transformers.disable_max_rows()
alt.Chart(df).mark_line(point=True).encode(
    x=alt.X("month(date):T", title="Month"),
    y=alt.Y("mean(temp):Q", title="Mean temperature (°C)"),
    color=alt.Color("year(date):N", title="Year"),
).properties(
    title="Two years",
    width=400,
)

# %% expected
# Twelve places that are written as months; the year 2012 that Vega puts them in is nowhere to be seen.
names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
means = df.groupby([df.date.dt.year, df.date.dt.month]).temp.mean()
expected = [{"kind": "line", "x": {"label": "Month", "ticks": names}, "series": [
    {"kind": "line", "label": str(y), "columns": {"x": names, "y": means[y]}} for y in (2022, 2023)]}]
