# %% data
x = [0, 1, 2, 3]
up, down = [2.0, 3, 4, 5], [1.0, 1.5, 2, 2.5]
mid = [1.5, 2.2, 3, 3.7]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=x + x[::-1], y=up + down[::-1], fill="toself", fillcolor="rgba(0,100,80,0.2)",
                         line=dict(color="rgba(255,255,255,0)"), hoverinfo="skip", showlegend=False))
fig.add_trace(go.Scatter(x=x, y=mid, mode="lines", name="forecast"))
fig.show()

# %% expected
expected = [{"kind": "line", "series": [
    {"kind": "area", "columns": {"x": x, "y": up, "y_base": down}},
    {"kind": "line", "label": "forecast", "columns": {"x": x, "y": mid}},
]}]
