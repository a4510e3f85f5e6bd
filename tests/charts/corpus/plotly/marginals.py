# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(18)
df = pd.DataFrame({"x": rng.integers(0, 10, 60) + 0.25, "y": rng.normal(size=60)})

# %% program
import plotly.express as px

fig = px.scatter(df, x="x", y="y", marginal_x="histogram")
fig.show()

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "histogram", "row": 0, "column": 0},
    {"kind": "scatter", "row": 1, "column": 0, "x": {"label": "x"}, "series": [{"columns": {"x": df.x, "y": df.y}}]},
]}]
