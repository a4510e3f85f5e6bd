# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(17)
df = pd.DataFrame({"x": rng.uniform(0, 10, 300), "y": rng.uniform(0, 5, 300)})

# %% program
import plotly.graph_objects as go

fig = go.Figure(go.Histogram2d(x=df.x, y=df.y, xbins=dict(start=0, end=10, size=2), ybins=dict(start=0, end=5, size=1)))
fig.show()

# %% expected
counts, xs, ys = np.histogram2d(df.x, df.y, bins=[np.arange(0, 11, 2), np.arange(0, 6)])
expected = [{"kind": "heatmap", "series": [{"kind": "heatmap", "columns": {
    "x": [1, 3, 5, 7, 9], "y": [0.5, 1.5, 2.5, 3.5, 4.5], "z": counts.T}}]}]
