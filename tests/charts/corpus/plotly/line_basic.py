# %% data
import numpy as np
x = np.linspace(0, 10, 100)
y = np.sin(x)

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=x, y=y, mode="lines", name="sin(x)"))
fig.update_layout(title="Sine wave", xaxis_title="x", yaxis_title="sin(x)")
fig.show()

# %% expected
expected = [
    {
        "kind": "line",
        "title": "Sine wave",
        "library": "plotly",
        "x": {"label": "x", "scale": "linear"},
        "y": {"label": "sin(x)", "scale": "linear"},
        "series": [{"kind": "line", "label": "sin(x)", "color": "#636efa", "columns": {"x": x, "y": y}}],
    }
]
