# %% data
x, y = [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]
u, v = [1.0, 0.5, 0.0], [0.0, 0.5, 1.0]

# %% program
import plotly.figure_factory as ff
import plotly.graph_objects as go

fig = ff.create_quiver(x, y, u, v, scale=1, arrow_scale=0.2, name="wind")
fig.add_trace(
    go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker=dict(size=12),
        name="stations",
    )
)
fig.update_layout(title="Wind")
fig.show()

# %% expected
# The arrows are one broken line; its points follow from sizes of arrowheads and are not compared.
expected = [{"title": "Wind", "series": [{"kind": "line", "label": "wind"},
             {"kind": "scatter", "label": "stations", "columns": {"x": x, "y": y}}]}]
