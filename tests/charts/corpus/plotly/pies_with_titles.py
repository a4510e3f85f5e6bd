# %% data
labels = ["US", "China", "Europe"]
emissions = [16, 15, 12]
output = [27, 11, 25]

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=1, cols=2, specs=[[{"type": "domain"}, {"type": "domain"}]])
fig.add_trace(
    go.Pie(labels=labels, values=emissions, name="GHG", title="Emissions", hole=0.4), row=1, col=1
)
fig.add_trace(
    go.Pie(labels=labels, values=output, name="CO2", title=dict(text="<b>Output</b>"), hole=0.4),
    row=1, col=2,
)
fig.update_traces(hoverinfo="label+percent+name", textinfo="value")
fig.update_layout(title_text="The world in 2011")
fig.show()

# %% expected
expected = [{"kind": "multi", "title": "The world in 2011", "charts": [
    {"kind": "pie", "title": t, "column": c, "series": [{"kind": "pie", "columns": {"label": labels, "value": v}}]}
    for c, (t, v) in enumerate([("Emissions", emissions), ("Output", output)])]}]
