# %% data
import numpy as np
x = np.arange(0, 5.0)
y = np.arange(10, 14.0)
z = np.outer(y, x)

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    data=go.Contour(
        z=z,
        x=x,
        y=y,
        colorscale="Electric",
        contours=dict(start=0, end=50, size=10, showlabels=True, coloring="heatmap"),
        colorbar=dict(title="Product", tickvals=[0, 25, 50], ticktext=["none", "some", "much"]),
    )
)
fig.update_layout(
    title="Levels",
    xaxis_title="x",
    yaxis_title="y",
)
fig.show()

# %% expected
expected = [{"kind": "contour", "z": {"label": "Product", "ticks": [0, 25, 50], "tick_labels": ["none", "some", "much"]},
             "series": [{"kind": "contour", "columns": {"x": x, "y": y, "z": z, "levels": [0, 10, 20, 30, 40, 50]}}]}]
