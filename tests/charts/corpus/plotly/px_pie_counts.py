# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"os": np.random.default_rng(12).choice(["linux", "mac", "win"], 50), "n": 1.5})

# %% program
import plotly.express as px

px.pie(df, names="os", values="n").show()

# %% expected
sums = df.groupby("os", sort=False).n.sum()
expected = [{"kind": "pie", "series": [{"kind": "pie", "columns": {"label": sums.index, "value": sums}}]}]
