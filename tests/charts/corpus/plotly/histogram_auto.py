# %% data
import numpy as np
values = np.random.default_rng(3).normal(50, 10, 400)

# %% program
import plotly.graph_objects as go

fig = go.Figure(data=[go.Histogram(x=values)])
fig.update_layout(title="Distribution", xaxis_title="value", yaxis_title="count", bargap=0.05)
fig.show()

# %% expected
# 2 standard deviations / n ** 0.4 = 1.8 or so is rounded up to a nice width of 2.
edges = np.arange(np.floor(values.min() / 2) * 2, values.max() + 2, 2)
counts = np.histogram(values, edges)[0]
expected = [{
    "kind": "histogram", "title": "Distribution", "orientation": "vertical",
    "x": {"label": "value", "scale": "linear"},
    "series": [{"kind": "histogram", "columns": {"start": edges[:-1], "end": edges[1:], "count": counts}}],
}]
