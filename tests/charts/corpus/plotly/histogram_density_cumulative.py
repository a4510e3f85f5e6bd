# %% data
import numpy as np
values = np.random.default_rng(6).uniform(0, 10, 250)

# %% program
import plotly.graph_objects as go

go.Figure(go.Histogram(x=values, xbins={"start": 0, "end": 10, "size": 1}, histnorm="probability density")).show()
go.Figure(go.Histogram(x=values, xbins={"start": 0, "end": 10, "size": 1}, cumulative_enabled=True)).show()

# %% expected
edges = np.arange(0, 11)
density = np.histogram(values, edges, density=True)[0]
counts = np.histogram(values, edges)[0].cumsum()
expected = [
    {"kind": "histogram", "series": [{"columns": {"start": edges[:-1], "end": edges[1:], "count": density}}]},
    {"kind": "histogram", "series": [{"columns": {"start": edges[:-1], "end": edges[1:], "count": counts}}]},
]
