# %% data
import numpy as np
mass = np.array([0.02, 0.3, 4.0, 65.0, 500.0, 5000.0])
rate = 3.4 * mass ** 0.75

# %% program
import plotly.graph_objects as go

fig = go.Figure(go.Scatter(x=mass, y=rate, mode="markers", marker=dict(size=10, color="black")))
fig.update_xaxes(type="log", range=[-2, 4], title_text="Body mass (kg)", dtick=1)
fig.update_yaxes(type="log", title_text="Metabolic rate (W)", exponentformat="power")
fig.add_annotation(
    x=np.log10(65.0),
    y=np.log10(3.4 * 65.0**0.75),
    text="human",
    showarrow=True,
    arrowhead=1,
)
fig.update_layout(title="Kleiber's law", template="plotly_white")
fig.show()

# %% expected
expected = [{"kind": "scatter", "x": {"label": "Body mass (kg)", "scale": "log", "limits": [0.01, 10000.0]},
             "y": {"label": "Metabolic rate (W)", "scale": "log"}, "annotations": [{"text": "human"}],
             "series": [{"kind": "scatter", "columns": {"x": mass, "y": rate}}]}]
