# %% data
nodes = ["Coal", "Gas", "Solar", "Power", "Homes", "Industry"]
links = [("Coal", "Power", 50), ("Gas", "Power", 30), ("Solar", "Power", 20), ("Power", "Homes", 40), ("Power", "Industry", 60)]

# %% program
import plotly.graph_objects as go

place = {name: number for number, name in enumerate(nodes)}
fig = go.Figure(
    data=[
        go.Sankey(
            valueformat=".0f",
            valuesuffix=" TWh",
            node=dict(pad=15, thickness=20, line=dict(color="black", width=0.5), label=nodes),
            link=dict(
                source=[place[a] for a, _, _ in links],
                target=[place[b] for _, b, _ in links],
                value=[value for _, _, value in links],
            ),
        )
    ]
)
fig.update_layout(title_text="Where power goes", font_size=12)
fig.show()

# %% expected
# The picture shows names, and no numbers of nodes.
expected = [{"kind": "other", "title": "Where power goes", "series": [{"kind": "other", "columns": {
    "source": [a for a, _, _ in links], "target": [b for _, b, _ in links], "value": [v for _, _, v in links]}}]}]
