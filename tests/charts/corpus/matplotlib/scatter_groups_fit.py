# %% data
import numpy as np
rng = np.random.default_rng(31)
x = rng.uniform(0, 10, 40)
y = 3 * x - 2 + rng.normal(0, 1, 40)
slope, intercept = np.polyfit(x, y, 1)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.scatter(x[:20], y[:20], marker="o", label="train")
ax.scatter(x[20:], y[20:], marker="x", color="crimson", label="test")
line = np.linspace(0, 10, 30)
ax.plot(line, slope * line + intercept, "k--", label=f"y = {slope:.2f}x + {intercept:.2f}")
ax.legend()
ax.text(0.05, 0.95, "R² high", transform=ax.transAxes, va="top")
plt.show()
# %% expected
line = np.linspace(0, 10, 30)
expected = [{"kind": "scatter", "annotations": [{"text": "R² high"}], "series": [
    {"kind": "scatter", "label": "train", "columns": {"x": x[:20], "y": y[:20]}},
    {"kind": "scatter", "label": "test", "color": "#dc143c", "columns": {"x": x[20:], "y": y[20:]}},
    {"kind": "line", "label": f"y = {slope:.2f}x + {intercept:.2f}", "columns": {"x": line, "y": slope * line + intercept}}]}]
