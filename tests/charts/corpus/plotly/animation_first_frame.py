# %% data
import pandas as pd
df = pd.DataFrame({"year": [2000] * 3 + [2001] * 3, "x": [1, 2, 3, 4, 5, 6], "y": [6, 5, 4, 3, 2, 1]})

# %% program
import plotly.express as px

fig = px.scatter(df, x="x", y="y", animation_frame="year")
fig.show()

# %% expected
expected = [{"kind": "scatter", "unread": ["2 frames"], "series": [{"kind": "scatter", "columns": {"x": [1, 2, 3], "y": [6, 5, 4]}}]}]
