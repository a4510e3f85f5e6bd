# %% data
import pandas as pd
df = pd.DataFrame({"born": pd.to_datetime(["1990-02-01", "1990-07-15", "1991-03-03", "1993-12-31", "1993-01-01", "1993-06-06"])})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X("year(born):O", title="Year of birth"),
    y=alt.Y("count():Q", title="People"),
).properties(
    title="Births",
    width=200,
    height=150,
).configure_axis(
    labelFontSize=12,
)

# %% expected
counts = df.born.dt.year.value_counts().sort_index()
names = [str(y) for y in counts.index]
expected = [{"kind": "bar", "x": {"label": "Year of birth", "scale": "category", "ticks": names}, "y": {"label": "People"},
             "series": [{"kind": "bar", "columns": {"x": names, "y": counts}}]}]
