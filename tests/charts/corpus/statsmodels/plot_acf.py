# %% data
import numpy as np
rng = np.random.default_rng(3)
noise = rng.normal(size=60)
series = np.array([noise[i] + 0.6 * noise[i - 1] for i in range(1, 60)])
# %% program
import matplotlib.pyplot as plt
from statsmodels.graphics.tsaplots import plot_acf

fig, ax = plt.subplots(figsize=(8, 3))
plot_acf(series, lags=6, ax=ax, alpha=None)
ax.set_title("Autocorrelation of the residuals")
ax.set_xlabel("Lag")
ax.set_ylabel("ACF")
ax.set_ylim(-1, 1.1)
plt.tight_layout()
plt.show()
# %% expected
centred = series - series.mean()
acf = [1.0] + [float((centred[k:] * centred[:-k]).sum() / (centred**2).sum()) for k in range(1, 7)]
expected = [{"title": "Autocorrelation of the residuals", "x": {"label": "Lag"}, "series": [
    {"kind": "bar", "columns": {"x": list(range(7)), "y": acf}}, {"kind": "rule", "columns": {"y": [0]}}, {"kind": "scatter", "columns": {"x": list(range(7)), "y": acf}}]}]
