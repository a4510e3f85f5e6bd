# %% data
import pandas as pd
df = pd.DataFrame({"date": pd.to_datetime(["2023-11-05", "2023-11-20", "2023-12-01", "2024-01-15"]), "sales": [5, 7, 9, 4]})

# %% program
import altair as alt

base = alt.Chart(df).encode(
    x=alt.X("yearmonth(date):O", axis=alt.Axis(labelAngle=-45), title="Month"),
)
bars = base.mark_bar(color="teal").encode(y=alt.Y("sum(sales):Q", title="Sales"))
labels = base.mark_text(dy=-8).encode(y="sum(sales):Q", text="sum(sales):Q")
(bars + labels).properties(title="Sales by month", width=250)

# %% expected
names = ["Nov 2023", "Dec 2023", "Jan 2024"]
expected = [{"kind": "bar", "title": "Sales by month", "x": {"label": "Month", "scale": "category", "ticks": names},
             "series": [{"kind": "bar", "columns": {"x": names, "y": [12, 9, 4]}}]}]
