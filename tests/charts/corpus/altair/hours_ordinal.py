# %% data
import pandas as pd
times = pd.to_datetime(["2024-03-01 05:10", "2024-03-01 05:50", "2024-03-02 14:00", "2024-03-03 23:30", "2024-03-03 14:45"])
df = pd.DataFrame({"t": times, "n": [1, 2, 3, 4, 5]})

# %% program
import altair as alt

chart = (
    alt.Chart(df, title="Calls by hour")
    .mark_bar()
    .encode(
        x=alt.X("hours(t):O", title="Hour"),
        y=alt.Y("sum(n):Q", title="Calls"),
        tooltip=["hours(t)", "sum(n)"],
    )
    .properties(width=300, height=200)
)
chart

# %% expected
# The axis is written 05:00, 14:00 and 23:00.
sums = df.groupby(df.t.dt.hour).n.sum()
names = [f"{hour:02d}:00" for hour in sums.index]
expected = [{"kind": "bar", "title": "Calls by hour", "x": {"label": "Hour", "scale": "category", "ticks": names},
             "series": [{"kind": "bar", "columns": {"x": names, "y": sums}}]}]
