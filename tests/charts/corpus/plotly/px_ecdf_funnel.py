# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"v": [5.0, 1.0, 3.0, 2.0], "stage": ["a", "b", "c", "d"]})

# %% program
import plotly.express as px

px.ecdf(df, x="v").show()
px.funnel(df, x="v", y="stage").show()

# %% expected
expected = [
    {"kind": "step", "series": [{"kind": "step", "columns": {"x": [1, 2, 3, 5], "y": [0.25, 0.5, 0.75, 1]}}]},
    {"kind": "other", "series": [{"kind": "other", "columns": {"x": df.v, "y": df.stage}}]},
]
