# %% data
import numpy as np
rng = np.random.default_rng(0)
x = np.linspace(0, 4, 25)
y = 2 * x + 1
err = 0.3 + 0.1 * x
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.fill_between(x, y - err, y + err, alpha=0.2, label="95% CI")
ax.plot(x, y, color="C0", label="fit")
ax.legend()
ax.set_xlabel("dose")
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"label": "dose"}, "series": [
    {"kind": "area", "label": "95% CI", "columns": {"x": x, "y": y + err, "y_base": y - err}},
    {"kind": "line", "label": "fit", "columns": {"x": x, "y": y}}]}]
