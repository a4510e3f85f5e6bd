# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(8)
days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, 150), "D")
df = pd.DataFrame({"signup": days})

# %% program
import plotly.express as px

fig = px.histogram(df, x="signup")
fig.update_traces(xbins_size="M1")
fig.show()

# %% expected
# Dates without a time shift the months by half a day.
first = [f"2022-12-31T12:00:00"] + [
    (pd.Timestamp(2023, m, 1) - pd.Timedelta("12h")).isoformat() for m in range(2, 13)]
last = first[1:] + ["2023-12-31T12:00:00"]
expected = [{
    "kind": "histogram", "x": {"scale": "datetime"},
    "series": [{"columns": {"start": first, "end": last,
                            "count": df.signup.dt.month.value_counts().sort_index()}}],
}]
