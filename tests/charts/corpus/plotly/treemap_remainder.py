# %% data
labels = ["Eve", "Cain", "Seth", "Enos", "Noam", "Abel", "Awan", "Enoch", "Azura"]
parents = ["", "Eve", "Eve", "Seth", "Seth", "Eve", "Eve", "Awan", "Eve"]
values = [10, 14, 12, 10, 2, 6, 6, 4, 4]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    go.Treemap(
        labels=labels,
        parents=parents,
        values=values,
        textinfo="label+value+percent parent",
        marker_colorscale="Blues",
    )
)
fig.update_layout(
    title="Family",
    margin=dict(t=50, l=25, r=25, b=25),
    width=700,
    height=500,
)
fig.show()

# %% expected
# Without branchvalues="total" what is written on a parent is its own value and those below it.
def below(name):
    return values[labels.index(name)] + sum(below(c) for c, p in zip(labels, parents) if p == name)
expected = [{"kind": "other", "title": "Family", "series": [{"kind": "other", "columns": {
    "labels": labels, "parents": parents, "values": [below(name) for name in labels]}}]}]
