# %% data
import numpy as np
t = np.linspace(0, 2 * np.pi, 40)
phases = [0.0, 0.5, 1.0, 1.5]

# %% program
import plotly.graph_objects as go

frames = [go.Frame(data=[go.Scatter(x=t, y=np.sin(t + phase))], name=f"{phase:.1f}") for phase in phases]
fig = go.Figure(
    data=[go.Scatter(x=t, y=np.sin(t), mode="lines", name="wave")],
    layout=go.Layout(
        title="A travelling wave",
        xaxis=dict(range=[0, 2 * np.pi], autorange=False),
        yaxis=dict(range=[-1.1, 1.1], autorange=False),
        updatemenus=[
            dict(
                type="buttons",
                buttons=[dict(label="Play", method="animate", args=[None])],
            )
        ],
    ),
    frames=frames,
)
fig.show()

# %% expected
expected = [{"kind": "line", "title": "A travelling wave", "unread": ["4 frames"],
             "y": {"limits": [-1.1, 1.1]}, "series": [{"kind": "line", "label": "wave", "columns": {"x": t, "y": np.sin(t)}}]}]
