# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"v": np.random.default_rng(22).uniform(0, 20, 60)})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(x=alt.X("v:O", bin=alt.Bin(maxbins=5)), y="count()").show()

# %% expected
edges = [0, 5, 10, 15, 20]
names = ["0 to 5", "5 to 10", "10 to 15", "15 to 20"]
expected = [{"kind": "bar", "x": {"scale": "category", "ticks": names}, "series": [{"columns": {
    "x": names, "y": np.histogram(df.v, edges)[0]}}]}]
