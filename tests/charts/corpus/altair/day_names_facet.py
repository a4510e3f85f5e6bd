# %% data
import pandas as pd
df = pd.DataFrame({"when": pd.to_datetime(["2024-07-01 08:00", "2024-07-01 20:00", "2024-07-02 08:00", "2024-07-08 08:00"]), "n": [1, 2, 3, 4]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X("hours(when):O", title=None),
    y="sum(n):Q",
    column=alt.Column("day(when):O", title="Weekday"),
).properties(
    width=80,
    height=100,
    title="By weekday",
)

# %% expected
expected = [{"kind": "multi", "title": "By weekday", "charts": [
    {"kind": "bar", "title": "Mon", "column": 0, "series": [{"columns": {"x": ["08:00", "20:00"], "y": [5, 2]}}]},
    {"kind": "bar", "title": "Tue", "column": 1, "series": [{"columns": {"x": ["08:00"], "y": [3]}}]}]}]
