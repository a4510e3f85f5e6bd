# %% data
import numpy as np
t = np.linspace(0, 6, 50)

# %% program
import plotly.graph_objects as go

fig = go.Figure(go.Scatter3d(x=np.cos(t), y=np.sin(t), z=t, mode="lines", name="helix"))
fig.show()
go.Figure(go.Scatter3d(x=t, y=t**2, z=t**3, mode="markers")).show()

# %% expected
expected = [
    {"kind": "line3d", "series": [{"kind": "line3d", "label": "helix", "columns": {"x": np.cos(t), "y": np.sin(t), "z": t}}]},
    {"kind": "scatter3d", "series": [{"kind": "scatter3d", "columns": {"x": t, "y": t**2, "z": t**3}}]},
]
