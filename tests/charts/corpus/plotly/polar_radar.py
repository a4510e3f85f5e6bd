# %% data
skills = ["speed", "power", "range", "cost"]
one, two = [4, 3, 5, 2], [3, 5, 2, 4]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatterpolar(r=one, theta=skills, fill="toself", name="A"))
fig.add_trace(go.Scatterpolar(r=two, theta=skills, fill="toself", name="B"))
fig.show()
go.Figure(go.Barpolar(r=[1, 2, 3], theta=[0, 90, 180])).show()

# %% expected
expected = [
    {"kind": "polar", "series": [
        {"kind": "area", "label": "A", "columns": {"theta": skills, "r": one}},
        {"kind": "area", "label": "B", "columns": {"theta": skills, "r": two}}]},
    {"kind": "polar", "series": [{"kind": "bar", "columns": {"theta": [0, 90, 180], "r": [1, 2, 3]}}]},
]
