# %% data
import pandas as pd
df = pd.DataFrame({"length": [5.1, 6.0, 6.9, 4.9], "width": [3.5, 2.9, 3.1, 3.0], "species": [0, 1, 2, 0]})
species = ["setosa", "versicolor", "virginica"]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    data=go.Parcoords(
        line=dict(color=df["species"], colorscale=[[0, "purple"], [0.5, "lightseagreen"], [1, "gold"]]),
        dimensions=[
            dict(range=[4, 8], label="Length", values=df["length"]),
            dict(range=[2, 4], label="Width", values=df["width"]),
            dict(
                range=[0, 2],
                label="Species",
                values=df["species"],
                tickvals=[0, 1, 2],
                ticktext=species,
            ),
        ],
    )
)
fig.update_layout(title="Flowers")
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Flowers", "series": [{"kind": "other", "columns": {
    "Length": df.length, "Width": df.width, "Species": [species[k] for k in df.species]}}]}]
