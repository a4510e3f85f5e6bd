# %% data
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 3, 4], "y": [4, 3, 2, 1], "k": ["p", "q", "p", "q"]})

# %% program
import altair as alt

brush = alt.selection_interval()
points = alt.Chart(df).mark_point().encode(
    x="x", y="y", color=alt.condition(brush, "k:N", alt.value("lightgray"))).add_params(brush)
bars = alt.Chart(df).mark_bar().encode(x="count()", y="k:N").transform_filter(brush)
(points & bars).show()

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "row": 0, "column": 0, "series": [
        {"label": "p", "columns": {"x": [1, 3], "y": [4, 2]}}, {"label": "q", "columns": {"x": [2, 4], "y": [3, 1]}}]},
    {"kind": "bar", "row": 1, "column": 0, "orientation": "horizontal",
     "series": [{"columns": {"x": [2, 2], "y": ["p", "q"]}}]}]}]
