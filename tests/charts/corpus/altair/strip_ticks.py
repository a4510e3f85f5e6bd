# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(20)
df = pd.DataFrame({"hp": rng.integers(50, 200, 30), "cyl": rng.choice([4, 6, 8], 30)})

# %% program
import altair as alt

alt.Chart(df).mark_tick().encode(x="hp:Q", y="cyl:O")

# %% expected
expected = [{"kind": "scatter", "y": {"label": "cyl", "scale": "category"}, "series": [{"kind": "scatter", "columns": {"x": df.hp, "y": df.cyl}}]}]
