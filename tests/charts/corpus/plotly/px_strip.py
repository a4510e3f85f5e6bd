# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(21)
df = pd.DataFrame({"day": rng.choice(["Fri", "Sat"], 25), "tip": rng.uniform(1, 9, 25)})

# %% program
import plotly.express as px

px.strip(df, x="day", y="tip").show()

# %% expected
expected = [{"kind": "scatter", "x": {"scale": "category"}, "series": [{"kind": "scatter", "columns": {"x": df.day, "y": df.tip}}]}]
