# %% data
import numpy as np
rng = np.random.default_rng(15)
x = np.arange(10)
a, b, c = rng.normal(size=(3, 10))

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=2, cols=2, subplot_titles=("Line", "Bars", "Points"))
fig.add_trace(go.Scatter(x=x, y=a, mode="lines"), row=1, col=1)
fig.add_trace(go.Bar(x=x, y=b), row=1, col=2)
fig.add_trace(go.Scatter(x=x, y=c, mode="markers"), row=2, col=1)
fig.update_xaxes(title_text="index", row=2, col=1)
fig.update_layout(height=600, title_text="Overview")
fig.show()

# %% expected
expected = [{"kind": "multi", "title": "Overview", "charts": [
    {"kind": "line", "title": "Line", "row": 0, "column": 0, "series": [{"kind": "line", "columns": {"x": x, "y": a}}]},
    {"kind": "bar", "title": "Bars", "row": 0, "column": 1, "series": [{"kind": "bar", "columns": {"x": x, "y": b}}]},
    {"kind": "scatter", "title": "Points", "row": 1, "column": 0, "x": {"label": "index"},
     "series": [{"kind": "scatter", "columns": {"x": x, "y": c}}]},
]}]
