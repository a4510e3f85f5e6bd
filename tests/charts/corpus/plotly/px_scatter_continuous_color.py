# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(2)
df = pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80), "temp": rng.uniform(0, 40, 80)})

# %% program
import plotly.express as px

px.scatter(df, x="x", y="y", color="temp")

# %% expected
expected = [
    {
        "kind": "scatter", "title": None,
        "z": {"label": "temp"},
        "series": [{"kind": "scatter", "columns": {"x": df.x, "y": df.y, "value": df.temp}}],
    }
]
