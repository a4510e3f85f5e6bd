# %% data
import numpy as np
x = np.array([1.0, 2.0, 3.0, 4.0])
y = np.array([2.1, 3.9, 6.2, 7.8])
xerr, lower, upper = 0.1, np.array([0.2, 0.3, 0.1, 0.4]), np.array([0.4, 0.1, 0.2, 0.3])
# %% program
import matplotlib.pyplot as plt
plt.errorbar(x, y, xerr=xerr, yerr=[lower, upper], fmt="o", capsize=3, label="measured")
plt.legend()
plt.title("Errors")
plt.show()
# %% expected
expected = [{"kind": "errorbar", "title": "Errors", "series": [{"kind": "errorbar", "label": "measured",
    "columns": {"x": x, "y": y, "x_low": x - xerr, "x_high": x + xerr, "y_low": y - lower, "y_high": y + upper}}]}]
