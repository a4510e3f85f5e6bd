# %% data
import numpy as np
x = np.arange(12)
mean = np.cos(x / 3)
low, high = mean - 0.2, mean + 0.3

# %% program
import plotly.graph_objects as go

fig = go.Figure([
    go.Scatter(x=x, y=mean, name="mean", mode="lines", line=dict(color="rgb(31, 119, 180)")),
    go.Scatter(x=x, y=high, name="upper", mode="lines", line=dict(width=0), showlegend=False),
    go.Scatter(x=x, y=low, name="lower", mode="lines", line=dict(width=0), fill="tonexty", showlegend=False),
])
fig.show()

# %% expected
expected = [{"kind": "line", "series": [
    {"kind": "line", "label": "mean", "color": "#1f77b4", "columns": {"x": x, "y": mean}},
    {"kind": "line", "label": "upper", "columns": {"x": x, "y": high}},
    {"kind": "area", "label": "lower", "columns": {"x": x, "y": low, "y_base": high}},
]}]
