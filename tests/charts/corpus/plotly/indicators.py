# %% data
speed, target = 72.5, 65.0
orders, orders_before = 420, 380

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(
    go.Indicator(
        mode="gauge+number+delta",
        value=speed,
        title={"text": "Speed"},
        delta={"reference": target},
        gauge={"axis": {"range": [None, 120]}, "bar": {"color": "darkblue"}},
        domain={"x": [0, 0.45], "y": [0, 1]},
    )
)
fig.add_trace(
    go.Indicator(
        mode="number+delta",
        value=orders,
        title={"text": "Orders"},
        delta={"reference": orders_before, "relative": True},
        domain={"x": [0.55, 1], "y": [0, 1]},
    )
)
fig.update_layout(title="Today")
fig.show()

# %% expected
expected = [{"kind": "multi", "title": "Today", "charts": [
    {"kind": "other", "title": t, "row": 0, "column": c, "series": [{"kind": "other", "columns": {"value": [v], "reference": [r]}}]}
    for c, (t, v, r) in enumerate([("Speed", speed, target), ("Orders", orders, orders_before)])]}]
