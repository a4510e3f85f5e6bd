# %% data
import numpy as np
import pandas as pd
index = pd.date_range("2022-01-01", periods=24, freq="MS")
series = pd.Series(np.arange(24) * 2.0 + np.tile([5.0, 0.0, -5.0, 0.0], 6), index=index, name="sales")
# %% program
import matplotlib.pyplot as plt
from statsmodels.tsa.seasonal import seasonal_decompose

result = seasonal_decompose(series, model="additive", period=4)
fig, axes = plt.subplots(4, 1, figsize=(9, 8), sharex=True)
for ax, part, name in zip(axes, (series, result.trend, result.seasonal, result.resid), ("Observed", "Trend", "Seasonal", "Residual")):
    ax.plot(part.index, part.values)
    ax.set_ylabel(name)
axes[0].set_title("Decomposition of sales")
fig.tight_layout()
plt.show()
# %% expected
when = [d.date().isoformat() for d in index]
v = series.to_numpy()
trend = [None, None] + [float((v[i - 2] / 2 + v[i - 1] + v[i] + v[i + 1] + v[i + 2] / 2) / 4) for i in range(2, 22)] + [None, None]
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "title": "Decomposition of sales", "y": {"label": "Observed"}, "x": {"scale": "datetime"}, "series": [{"kind": "line", "columns": {"x": when, "y": v}}]},
    {"kind": "line", "y": {"label": "Trend"}, "series": [{"kind": "line", "columns": {"x": when, "y": trend}}]},
    {"kind": "line", "y": {"label": "Seasonal"}, "series": [{"kind": "line", "columns": {"x": when, "y": np.tile([5.0, 0.0, -5.0, 0.0], 6)}}]},
    {"kind": "line", "y": {"label": "Residual"}, "series": [{"kind": "line", "columns": {"x": when}}]}]}]
