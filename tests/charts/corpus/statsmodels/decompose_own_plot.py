# %% data
import numpy as np
import pandas as pd
series = pd.Series(np.arange(12.0) + np.tile([1.0, -1.0], 6), index=pd.date_range("2023-01-01", periods=12, freq="MS"), name="visits")
# %% program
import matplotlib.pyplot as plt
import statsmodels.api as sm

decomposition = sm.tsa.seasonal_decompose(series, model="additive", period=2)
fig = decomposition.plot()
fig.set_size_inches(9, 7)
fig.suptitle("Seasonal decomposition", y=1.02)
plt.tight_layout()
plt.show()
# %% expected
when = [d.date().isoformat() for d in series.index]
expected = [{"kind": "multi", "title": "Seasonal decomposition", "charts": [
    {"kind": "line", "title": "visits", "series": [{"kind": "line", "columns": {"x": when, "y": series.tolist()}}]},
    {"kind": "line", "y": {"label": "Trend"}, "series": [{"kind": "line", "columns": {"y": [None, *range(1, 11), None]}}]},
    {"kind": "line", "y": {"label": "Seasonal"}, "series": [{"kind": "line", "columns": {"x": when, "y": np.tile([1.0, -1.0], 6)}}]},
    {"y": {"label": "Resid"}, "series": [{"kind": "scatter", "columns": {"x": when}}, {"kind": "line", "columns": {"y": [0, 0]}}]}]}]
