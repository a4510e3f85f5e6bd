# %% data
import pandas as pd
df = pd.DataFrame({"day": pd.date_range("2024-05-30", periods=4), "visits": [30, 25, 40, 35]})

# %% program
import altair as alt

alt.Chart(df).mark_bar(cornerRadiusTopLeft=3).encode(
    x=alt.X(
        "yearmonthdate(day):O",
        title="Day",
        axis=alt.Axis(format="%d/%m", labelAngle=0),
    ),
    y=alt.Y("visits:Q", axis=alt.Axis(format="d", tickCount=5)),
    color=alt.value("orange"),
).properties(width=300)

# %% expected
names = ["30/05", "31/05", "01/06", "02/06"]
expected = [{"kind": "bar", "x": {"label": "Day", "scale": "category", "ticks": names},
             "series": [{"kind": "bar", "color": "#ffa500", "columns": {"x": names, "y": df.visits}}]}]
