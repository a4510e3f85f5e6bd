# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(6)
df = pd.DataFrame({"date": pd.date_range("2021-01-01", periods=730), "rain": rng.exponential(3, 730)})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(x="month(date):O", y="sum(rain):Q")

# %% expected
s = df.groupby(df.date.dt.month).rain.sum()
expected = [{"kind": "bar", "x": {"label": "date (month)", "scale": "category"},
             "series": [{"columns": {"x": ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], "y": s}}]}]
