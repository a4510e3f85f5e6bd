# %% data
import pandas as pd
df = pd.DataFrame({"year": [1, 2, 3] * 2, "src": ["a"] * 3 + ["b"] * 3, "v": [1.5, 2, 3, 4, 5, 6.25]})

# %% program
import altair as alt

alt.Chart(df).mark_area().encode(x="year:Q", y="v:Q", color="src:N")

# %% expected
a, b = df[df.src == "a"].v.to_numpy(), df[df.src == "b"].v.to_numpy()
expected = [{"kind": "area", "stacking": "stacked", "series": [
    {"kind": "area", "label": "a", "columns": {"x": [1, 2, 3], "y": a, "y_base": b}},
    {"kind": "area", "label": "b", "columns": {"x": [1, 2, 3], "y": b}}]}]
