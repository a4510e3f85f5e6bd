# %% data
import pandas as pd
df = pd.DataFrame([dict(task="design", start="2024-01-01", end="2024-01-11"), dict(task="build", start="2024-01-08", end="2024-02-01")])

# %% program
import plotly.express as px

fig = px.timeline(df, x_start="start", x_end="end", y="task")
fig.update_yaxes(autorange="reversed")
fig.show()

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"scale": "datetime"}, "series": [{"kind": "bar", "columns": {
    "y": df.task, "x": [10 * 86400000, 24 * 86400000], "base": df.start}}]}]
