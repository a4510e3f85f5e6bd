# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(5)
df = pd.DataFrame({"when": pd.date_range("2022-11-01", periods=200, freq="12h"), "load": rng.gamma(2, 3, 200)})

# %% program
import altair as alt

alt.Chart(df).mark_line().encode(x="yearmonth(when):T", y="mean(load):Q")

# %% expected
m = df.groupby(df.when.dt.strftime("%Y-%m-01")).load.mean()
expected = [{"kind": "line", "x": {"label": "when (year-month)", "scale": "datetime"}, "y": {"label": "Mean of load"},
             "series": [{"kind": "line", "columns": {"x": m.index, "y": m}}]}]
