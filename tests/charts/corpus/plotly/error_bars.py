# %% data
import numpy as np
x = [1, 2, 3]
y = np.array([2.0, 4, 8])
err = np.array([0.5, 0.25, 1])

# %% program
import plotly.graph_objects as go

go.Figure(go.Scatter(x=x, y=y, mode="markers", error_y=dict(type="data", array=err), name="data")).show()
go.Figure(go.Bar(x=["a", "b", "c"], y=y, error_y=dict(type="percent", value=10))).show()

# %% expected
expected = [
    {"kind": "errorbar", "series": [{"kind": "errorbar", "label": "data", "columns": {
        "x": x, "y": y, "y_low": y - err, "y_high": y + err}}]},
    {"kind": "bar", "series": [
        {"kind": "bar", "columns": {"x": ["a", "b", "c"], "y": y}},
        {"kind": "errorbar", "columns": {"x": ["a", "b", "c"], "y": y, "y_low": y * 0.9, "y_high": y * 1.1}},
    ]},
]
