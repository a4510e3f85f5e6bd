# %% data
import numpy as np
x, y = np.linspace(-2, 2, 6), np.linspace(-1, 1, 5)
z = np.exp(-(x[None, :] ** 2 + y[:, None] ** 2))

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    data=[
        go.Surface(
            x=x,
            y=y,
            z=z,
            colorscale="Viridis",
            contours=dict(z=dict(show=True, usecolormap=True, project_z=True)),
        )
    ]
)
fig.update_layout(
    title="Bell",
    autosize=False,
    scene=dict(xaxis_title="X", yaxis_title="Y", zaxis=dict(title="Height", range=[0, 1])),
    width=500,
    height=500,
)
fig.show()

# %% expected
expected = [{"kind": "surface3d", "title": "Bell", "x": {"label": "X"}, "y": {"label": "Y"}, "z": {"label": "Height", "limits": [0, 1]},
             "series": [{"kind": "surface3d", "columns": {"x": x, "y": y, "z": z}}]}]
