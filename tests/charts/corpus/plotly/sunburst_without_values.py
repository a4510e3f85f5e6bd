# %% data
labels = ["project", "src", "docs", "main.py", "util.py", "test.py", "index.md"]
parents = ["", "project", "project", "src", "src", "src", "docs"]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(
    go.Sunburst(
        labels=labels,
        parents=parents,
        insidetextorientation="radial",
        hoverinfo="label",
    )
)
fig.update_layout(
    title_text="Files of the project",
    margin=dict(t=40, l=0, r=0, b=0),
    uniformtext=dict(minsize=10, mode="hide"),
)
fig.show()

# %% expected
# Sectors without values are as large as the number of leaves in them.
leaves = {"project": 4, "src": 3, "docs": 1, "main.py": 1, "util.py": 1, "test.py": 1, "index.md": 1}
expected = [{"kind": "other", "title": "Files of the project", "series": [{"kind": "other", "columns": {
    "labels": labels, "parents": parents, "values": [leaves[n] for n in labels]}}]}]
