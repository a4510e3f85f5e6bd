# %% data
import pandas as pd
df = pd.DataFrame({"species": ["b", "a", "b", "c", "b", "a"]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(alt.X("species:N", sort=alt.EncodingSortField(field="species", op="count", order="descending")), y="count():Q", color="species:N")

# %% expected
expected = [{"kind": "bar", "stacking": None, "x": {"ticks": ["b", "a", "c"]}, "series": [{"columns": {"x": ["b", "a", "c"], "y": [3, 2, 1]}}]}]
