# %% data
import pandas as pd
df = pd.DataFrame({"when": pd.to_datetime(["2023-02-01", "2023-05-01", "2023-08-01", "2024-03-01", "2024-06-01", "2024-09-30"]),
                   "eur": [10, 20, 30, 40, 50, 60]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X("quarter(when):O", title="Quarter", axis=alt.Axis(labelAngle=0)),
    xOffset="year(when):N",
    y=alt.Y("sum(eur):Q", title="Revenue"),
    color=alt.Color("year(when):N", title="Year"),
).properties(
    title="Revenue by quarter",
    width=300,
)

# %% expected
quarters = ["Q1", "Q2", "Q3"]
expected = [{"kind": "bar", "stacking": "grouped", "x": {"label": "Quarter", "ticks": quarters}, "series": [
    {"kind": "bar", "label": "2023", "columns": {"x": quarters, "y": [10, 20, 30]}},
    {"kind": "bar", "label": "2024", "columns": {"x": quarters, "y": [40, 50, 60]}}]}]
