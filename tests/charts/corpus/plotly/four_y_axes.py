# %% data
x = [1, 2, 3]
traces = {"first": [4, 5, 6], "second": [40, 50, 60], "third": [4000, 5000, 6000], "fourth": [400000, 500000, 600000]}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for number, (name, values) in enumerate(traces.items(), 1):
    axis = "y" if number == 1 else f"y{number}"
    fig.add_trace(go.Scatter(x=x, y=values, name=name, yaxis=axis))

fig.update_layout(
    xaxis=dict(domain=[0.3, 0.7]),
    yaxis=dict(title=dict(text="yaxis title", font=dict(color="#1f77b4"))),
    yaxis2=dict(title=dict(text="yaxis2 title"), anchor="free", overlaying="y", side="left", position=0.15),
    yaxis3=dict(title=dict(text="yaxis3 title"), anchor="x", overlaying="y", side="right"),
    yaxis4=dict(title=dict(text="yaxis4 title"), anchor="free", overlaying="y", side="right", position=0.85),
)
fig.update_layout(title_text="multiple y-axes example", width=800)
fig.show()

# %% expected
slots = ["y", "y2", "y3", "y4"]
expected = [{"kind": "line", "title": "multiple y-axes example",
             "y": {"label": "yaxis title"}, "y2": {"label": "yaxis2 title"}, "more_axes": {"y3": {"label": "yaxis3 title"}, "y4": {"label": "yaxis4 title"}},
             "series": [{"kind": "line", "label": n, "axis": s, "columns": {"x": x, "y": v}}
                        for s, (n, v) in zip(slots, traces.items())]}]
