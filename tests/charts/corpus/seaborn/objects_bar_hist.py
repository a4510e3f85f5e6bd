# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"g": ["a", "b", "a", "b"], "v": [1.0, 2.0, 3.0, 5.0]})
# %% program
import seaborn.objects as so
p = so.Plot(df, x="g", y="v").add(so.Bar(), so.Agg())
p
# %% expected
expected = [{"kind": "bar", "library": "seaborn", "x": {"scale": "category"}, "series": [{"kind": "bar", "columns": {"x": ["a", "b"], "y": [2.0, 3.5]}}]}]
