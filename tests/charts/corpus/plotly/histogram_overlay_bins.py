# %% data
import numpy as np
rng = np.random.default_rng(5)
a = rng.uniform(0, 100, 300)
b = rng.uniform(20, 80, 300)

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Histogram(x=a, name="control", xbins=dict(start=0, end=100, size=10), opacity=0.6))
fig.add_trace(go.Histogram(x=b, name="treatment", xbins=dict(start=0, end=100, size=10), opacity=0.6))
fig.update_layout(barmode="overlay")
fig.show()

# %% expected
edges = np.arange(0, 101, 10)
inner = edges[2:9]
expected = [{
    "kind": "histogram", "stacking": "overlaid",
    "series": [
        {"kind": "histogram", "label": "control", "columns": {
            "start": edges[:-1], "end": edges[1:], "count": np.histogram(a, edges)[0]}},
        {"kind": "histogram", "label": "treatment", "columns": {
            "start": inner[:-1], "end": inner[1:], "count": np.histogram(b, inner)[0]}},
    ],
}]
