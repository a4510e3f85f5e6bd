# %% data
import numpy as np
x = np.arange(10.0)
y = 2 * x + np.array([0.5, -0.5, 0.2, -0.2, 0.1, -0.1, 0.3, -0.3, 0.4, -0.4])
# %% program
import matplotlib.pyplot as plt
import statsmodels.api as sm

fitted = sm.OLS(y, sm.add_constant(x)).fit()
fig, axes = plt.subplots(1, 2, figsize=(10, 4))
axes[0].scatter(fitted.fittedvalues, fitted.resid, facecolors="none", edgecolors="b")
axes[0].axhline(0, color="k", lw=1)
axes[0].set(title="Residuals vs fitted", xlabel="Fitted", ylabel="Residual")
axes[1].hist(fitted.resid, bins=4, edgecolor="white")
axes[1].set(title="Residuals", xlabel="Residual")
plt.tight_layout()
plt.show()
# %% expected
slope, intercept = np.polyfit(x, y, 1)
fit = intercept + slope * x
counts, edges = np.histogram(y - fit, bins=4)
tolerance = 1e-7
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "title": "Residuals vs fitted", "series": [{"kind": "scatter", "columns": {"x": fit, "y": y - fit}}, {"kind": "rule", "columns": {"y": [0]}}]},
    {"kind": "histogram", "title": "Residuals", "series": [{"kind": "histogram", "columns": {"start": edges[:-1], "end": edges[1:], "count": counts}}]}]}]
