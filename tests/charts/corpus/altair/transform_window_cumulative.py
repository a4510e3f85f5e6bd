# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"day": range(1, 11), "n": np.random.default_rng(17).integers(0, 20, 10)})

# %% program
import altair as alt

alt.Chart(df).mark_line().transform_window(total="sum(n)", sort=[{"field": "day"}]).encode(x="day:Q", y="total:Q")

# %% expected
expected = [{"kind": "line", "series": [{"columns": {"x": df.day, "y": df.n.cumsum()}}]}]
