# %% data
import pandas as pd
df = pd.DataFrame({"size": ["L", "S", "M", "XL"], "stock": [12, 7, 20, 3]})

# %% program
import altair as alt

alt.Chart(df).mark_bar(color="firebrick").encode(
    y=alt.Y("size:N", sort=["S", "M", "L", "XL"]), x=alt.X("stock:Q", axis=alt.Axis(title="In stock")))

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "In stock", "scale": "linear"},
             "y": {"label": "size", "ticks": ["S", "M", "L", "XL"]},
             "series": [{"color": "#b22222", "columns": {"x": [7, 20, 12, 3], "y": ["S", "M", "L", "XL"]}}]}]
