# %% data
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3], "b": [4.5, 5, 6]}, index=["x", "y", "z"])

# %% program
import plotly.express as px

fig = px.bar(df, barmode="group")
fig.show()

# %% expected
expected = [{"kind": "bar", "stacking": "grouped", "x": {"label": "index", "scale": "category"}, "y": {"label": "value"},
             "series": [{"kind": "bar", "label": c, "columns": {"x": df.index, "y": df[c]}} for c in "ab"]}]
