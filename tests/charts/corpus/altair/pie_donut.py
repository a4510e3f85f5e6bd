# %% data
import pandas as pd
df = pd.DataFrame({"category": ["z", "x", "y"], "value": [4, 6, 10]})

# %% program
import altair as alt

alt.Chart(df).mark_arc(innerRadius=50).encode(theta="value:Q", color="category:N").properties(title="Donut")

# %% expected
expected = [{"kind": "pie", "title": "Donut", "series": [{"kind": "pie", "columns": {"label": ["x", "y", "z"], "value": [6, 10, 4]}}]}]
