# %% data
import numpy as np
x = np.arange(0, 5, 0.5)
powers = [1, 2, 3]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for power in powers:
    fig.add_trace(
        go.Scatter(visible=False, x=x, y=x**power, name=f"power {power}", line=dict(width=6))
    )
fig.data[1].visible = True

steps = []
for i in range(len(fig.data)):
    step = dict(method="update", label=str(powers[i]), args=[{"visible": [False] * len(fig.data)}])
    step["args"][0]["visible"][i] = True
    steps.append(step)
fig.update_layout(
    sliders=[dict(active=1, currentvalue={"prefix": "Power: "}, pad={"t": 50}, steps=steps)],
    title="Powers of x",
)
fig.show()

# %% expected
expected = [{"kind": "line", "title": "Powers of x", "unread": ["power 1"], "series": [
    {"kind": "line", "label": "power 2", "columns": {"x": x, "y": [v * v for v in x]}}]}]
