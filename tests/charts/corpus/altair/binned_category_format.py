# %% data
import pandas as pd
df = pd.DataFrame({"share": [0.1, 0.25, 0.5], "n": [3, 6, 1]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X(
        "share:O",
        title="Share",
        axis=alt.Axis(format=".0%", labelAngle=0),
    ),
    y=alt.Y("n:Q", title="Cases"),
).properties(
    title="Cases by share",
    width=180,
)

# %% expected
names = ["10%", "25%", "50%"]
expected = [{"kind": "bar", "x": {"label": "Share", "scale": "category", "ticks": names},
             "series": [{"kind": "bar", "columns": {"x": names, "y": df.n}}]}]
