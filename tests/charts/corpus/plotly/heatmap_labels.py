# %% data
import numpy as np
z = np.random.default_rng(13).integers(0, 100, (3, 4))
days = ["Mon", "Tue", "Wed", "Thu"]
shifts = ["Morning", "Noon", "Night"]

# %% program
import plotly.graph_objects as go

fig = go.Figure(data=go.Heatmap(z=z, x=days, y=shifts, colorscale="Viridis", colorbar={"title": "orders"}))
fig.update_layout(title="Orders")
fig.show()

# %% expected
expected = [{"kind": "heatmap", "title": "Orders", "z": {"label": "orders"},
             "x": {"scale": "category", "ticks": days}, "y": {"scale": "category"},
             "series": [{"kind": "heatmap", "columns": {"x": days, "y": shifts, "z": z}}]}]
