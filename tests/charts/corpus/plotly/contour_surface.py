# %% data
import numpy as np
x = np.linspace(-2, 2, 9)
y = np.linspace(-1, 1, 5)
z = np.exp(-(x[None, :] ** 2 + y[:, None] ** 2))

# %% program
import plotly.graph_objects as go

go.Figure(go.Contour(x=x, y=y, z=z, contours=dict(start=0.2, end=0.8, size=0.2))).show()
fig = go.Figure(go.Surface(x=x, y=y, z=z))
fig.update_layout(scene=dict(xaxis_title="X", yaxis_title="Y", zaxis_title="Z"))
fig.show()

# %% expected
expected = [
    {"kind": "contour", "series": [{"kind": "contour", "columns": {
        "x": x, "y": y, "z": z, "levels": [0.2, 0.4, 0.6, 0.8]}}]},
    {"kind": "surface3d", "x": {"label": "X"}, "y": {"label": "Y"}, "z": {"label": "Z"},
     "series": [{"kind": "surface3d", "columns": {"x": x, "y": y, "z": z}}]},
]
