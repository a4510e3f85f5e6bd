# %% data
import pandas as pd
df = pd.DataFrame({"x": range(50), "y": [v * v for v in range(50)]})

# %% program
import altair as alt

alt.Chart(df).transform_sample(
    10,
).mark_point().encode(
    x=alt.X("x:Q", title="x"),
    y=alt.Y("y:Q", title="y"),
).properties(
    title="Ten of fifty",
    width=200,
    height=200,
)

# %% expected
expected = [{"kind": "scatter", "title": "Ten of fifty", "x": {"label": "x"}, "unread": ["sample"], "series": [{"kind": "scatter", "columns": {}}]}]
