# %% data
import numpy as np
x = np.linspace(0, 6, 13)
y = np.sin(x)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(x, y, color="black", label="signal")
ax.fill_between(x, 0, y, where=y > 0, color="green", alpha=0.3, label="positive")
ax.fill_between(x, 0, y, where=(y <= 0), color="red", alpha=0.3, label="negative")
ax.legend()
plt.show()
# %% expected
pos = [v if v > 0 else None for v in y.tolist()]
neg = [v if v <= 0 else None for v in y.tolist()]
expected = [{"kind": "line", "series": [
    {"kind": "line", "label": "signal", "columns": {"x": x, "y": y}},
    {"kind": "area", "label": "positive", "columns": {"x": x, "y": pos}},
    {"kind": "area", "label": "negative", "columns": {"x": x, "y": neg}}]}]
