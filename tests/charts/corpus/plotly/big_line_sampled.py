# %% data
import numpy as np
x = np.arange(30000)
y = np.sin(x / 500) + x / 10000

# %% program
import plotly.graph_objects as go

go.Figure(go.Scattergl(x=x, y=y, mode="lines", name="signal")).show()

# %% expected
expected = [{"kind": "line", "series": [{"kind": "line", "label": "signal", "total": 30000, "columns": {"x": x, "y": y}}]}]
