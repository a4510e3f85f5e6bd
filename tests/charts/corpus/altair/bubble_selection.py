# %% data
import pandas as pd
df = pd.DataFrame({"hp": [130, 165, 95, 60], "mpg": [18.0, 15.0, 24.0, 33.0], "origin": ["USA", "USA", "Japan", "Europe"]})

# %% program
import altair as alt

brush = alt.selection_interval()
points = (
    alt.Chart(df)
    .mark_point()
    .encode(
        x=alt.X("hp:Q", title="Horsepower"),
        y=alt.Y("mpg:Q", title="Miles per gallon"),
        color=alt.condition(brush, "origin:N", alt.value("lightgray")),
    )
    .add_params(brush)
)
bars = alt.Chart(df).mark_bar().encode(y="origin:N", color="origin:N", x="count(origin):Q").transform_filter(brush)
points & bars

# %% expected
order = ["Europe", "Japan", "USA"]
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "row": 0, "series": [{"kind": "scatter", "label": o, "columns": {"x": df[df.origin == o].hp, "y": df[df.origin == o].mpg}} for o in order]},
    {"kind": "bar", "row": 1, "orientation": "horizontal", "series": [
        # The colours repeat the names on the axis: one series.
        {"kind": "bar", "columns": {"y": order, "x": [int((df.origin == o).sum()) for o in order]}}]}]}]
