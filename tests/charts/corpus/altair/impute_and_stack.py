# %% data
import pandas as pd
df = pd.DataFrame({"day": [1, 1, 2, 3, 3], "who": ["a", "b", "a", "a", "b"], "n": [4, 5, 6, 7, 8]})

# %% program
import altair as alt

lines = alt.Chart(df).transform_impute(
    impute="n",
    key="day",
    value=0,
    groupby=["who"],
).mark_line().encode(
    x="day:O",
    y="n:Q",
    color="who:N",
)
lines.properties(title="With zeros", width=200)

# %% expected
expected = [{"kind": "line", "title": "With zeros", "series": [
    {"kind": "line", "label": "a", "columns": {"y": [4, 6, 7]}},
    {"kind": "line", "label": "b", "columns": {"y": [5, 0, 8]}}]}]
