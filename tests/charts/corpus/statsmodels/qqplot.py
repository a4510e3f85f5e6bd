# %% data
import numpy as np
data = np.round(np.random.default_rng(12).normal(10, 2, 15), 3)
# %% program
import matplotlib.pyplot as plt
import statsmodels.api as sm

fig, ax = plt.subplots(figsize=(5, 5))
sm.qqplot(data, line="s", ax=ax)
ax.set_title("Normal Q-Q plot")
ax.set_xlabel("Theoretical quantiles")
ax.set_ylabel("Sample quantiles")
ax.grid(True, alpha=0.3)
plt.tight_layout()
plt.show()
# %% expected
from statistics import NormalDist
n = len(data)
theory = [NormalDist().inv_cdf(i / (n + 1)) for i in range(1, n + 1)]
tolerance = 1e-6
expected = [{"kind": "scatter", "title": "Normal Q-Q plot", "x": {"label": "Theoretical quantiles"}, "series": [
    {"kind": "scatter", "columns": {"x": theory, "y": sorted(data.tolist())}},
    {"kind": "line", "columns": {"x": theory, "y": [data.mean() + data.std() * t for t in theory]}}]}]
