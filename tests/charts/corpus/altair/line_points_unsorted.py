# %% data
import pandas as pd
df = pd.DataFrame({"x": [3, 1, 2, 5, 4], "y": [9, 1, 4, 25, 16]})

# %% program
import altair as alt

alt.Chart(df).mark_line(point=True).encode(x="x", y=alt.Y("y").scale(type="log"))

# %% expected
expected = [{"kind": "line", "y": {"scale": "log"}, "series": [{"kind": "line", "columns": {"x": [1, 2, 3, 4, 5], "y": [1, 4, 9, 16, 25]}}]}]
