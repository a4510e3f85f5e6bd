# %% data
import numpy as np
x = np.arange(12)
y = np.array([5, 7, 6, 9, 12, 11, 15, 14, 13, 10, 8, 6])
mean = y.mean()
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, label="observed")
plt.axhline(y.mean(), color="red", linestyle="--", label=f"mean = {y.mean():.2f}")
plt.axvline(6, color="gray", linestyle=":", label="peak")
plt.legend()
plt.title("With references")
plt.show()
# %% expected
expected = [{"kind": "line", "title": "With references", "series": [
    {"kind": "line", "label": "observed", "columns": {"x": x, "y": y}},
    {"kind": "rule", "label": f"mean = {mean:.2f}", "color": "#ff0000", "columns": {"y": [mean]}},
    {"kind": "rule", "label": "peak", "columns": {"x": [6]}}]}]
