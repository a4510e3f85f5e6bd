# %% data
import numpy as np
x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
y = np.array([2.1, 3.9, 6.2, 7.8, 10.1])
# %% program
import matplotlib.pyplot as plt
import statsmodels.api as sm

model = sm.OLS(y, sm.add_constant(x)).fit()
print(model.params)
fig, ax = plt.subplots(figsize=(6, 4))
ax.scatter(x, y, label="Observed", color="black")
ax.plot(x, model.fittedvalues, label=f"Fit: R2 = {model.rsquared:.3f}", color="red")
interval = model.get_prediction().conf_int()
ax.fill_between(x, interval[:, 0], interval[:, 1], color="red", alpha=0.2, label="95% CI")
ax.set_xlabel("Dose")
ax.set_ylabel("Effect")
ax.set_title("Linear fit")
ax.legend()
plt.show()
# %% expected
slope, intercept = np.polyfit(x, y, 1)
fit = intercept + slope * x
r2 = 1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum()
half = 3.182446305284263 * np.sqrt(((y - fit) ** 2).sum() / 3 * (1 / 5 + (x - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()))
expected = [{"kind": "scatter", "title": "Linear fit", "series": [{"kind": "scatter", "label": "Observed", "columns": {"x": x, "y": y}},
    {"kind": "line", "label": f"Fit: R2 = {r2:.3f}", "columns": {"x": x, "y": fit}}, {"kind": "area", "label": "95% CI", "columns": {"x": x, "y": fit + half, "y_base": fit - half}}]}]
