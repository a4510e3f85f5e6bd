# %% data
t = [0, 1, 2, 3, 4]
v = [1, 3, 2, 5, 4]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=t, y=v, line_shape="hv", name="hv"))
fig.add_trace(go.Scatter(x=t, y=[5 + i for i in v], line_shape="spline", name="spline"))
fig.show()

# %% expected
expected = [{"kind": "step", "series": [
    {"kind": "step", "label": "hv", "columns": {"x": t, "y": v}},
    {"kind": "line", "label": "spline", "columns": {"x": t, "y": [6, 8, 7, 10, 9]}},
]}]
