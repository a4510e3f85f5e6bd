# %% data
import numpy as np
x = np.arange(6)
y = np.array([1.0, np.nan, 3.0, 2.0, 5.0, 4.0])
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, "o", label="points")
plt.plot(x, y + 1, linestyle="None", marker="^", color="green")
plt.legend()
plt.show()
# %% expected
c = [None if i == 1 else v for i, v in enumerate(y.tolist())]
expected = [{"kind": "scatter", "series": [
    {"kind": "scatter", "label": "points", "columns": {"x": x, "y": c}},
    {"kind": "scatter", "label": None, "color": "#008000", "columns": {"x": x, "y": [None if v is None else v + 1 for v in c]}}]}]
