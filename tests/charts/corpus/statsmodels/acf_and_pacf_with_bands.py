# %% data
import numpy as np
rng = np.random.default_rng(5)
series = rng.normal(size=50).cumsum()
# %% program
import matplotlib.pyplot as plt
from statsmodels.graphics.tsaplots import plot_acf, plot_pacf

fig, (ax1, ax2) = plt.subplots(2, 1, figsize=(8, 6))
plot_acf(series, lags=4, ax=ax1)
plot_pacf(series, lags=4, ax=ax2, method="ywm")
ax1.set_title("ACF")
ax2.set_title("PACF")
fig.tight_layout()
plt.show()
# %% expected
import warnings
from statsmodels.tsa.stattools import acf, pacf
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    a, aband = acf(series, nlags=4, alpha=0.05)
    p, pband = pacf(series, nlags=4, method="ywm", alpha=0.05)
def panel(title, values, band):
    lags = np.arange(5)
    at = lags[1:].astype(float)
    at[0] -= 0.5
    at[-1] += 0.5
    return {"title": title, "series": [{"kind": "bar", "columns": {"x": lags, "y": values}}, {"kind": "rule", "columns": {"y": [0]}}, {"kind": "scatter", "columns": {"x": lags, "y": values}},
        {"kind": "area", "columns": {"x": at, "y": (band[:, 1] - values)[1:], "y_base": (band[:, 0] - values)[1:]}}]}
expected = [{"kind": "multi", "charts": [panel("ACF", a, aband), panel("PACF", p, pband)]}]
