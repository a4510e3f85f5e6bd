# %% data
import pandas as pd
df = pd.DataFrame({"site": ["A", "A", "B", "B"], "variety": ["m", "n"] * 2, "yield": [30, 10, 45, 15]})

# %% program
import altair as alt

chart = alt.Chart(df).mark_bar().encode(
    x=alt.X("sum(yield)").stack("normalize"), y="site", color="variety")
chart

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "stacking": "stacked", "series": [
    {"kind": "bar", "label": "m", "columns": {"x": [0.75, 0.75], "y": ["A", "B"], "base": [0.25, 0.25]}},
    {"kind": "bar", "label": "n", "columns": {"x": [0.25, 0.25], "y": ["A", "B"]}}]}]
