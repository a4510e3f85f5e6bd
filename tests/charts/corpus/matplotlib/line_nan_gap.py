# %% data
import numpy as np
x = np.arange(10)
y = x ** 2.0
y[3] = np.nan
y[7] = np.inf
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, "-o")
plt.title("gaps")
plt.show()
# %% expected
known = [None if i in (3, 7) else float(i) ** 2 for i in range(10)]
expected = [{"kind": "line", "series": [{"kind": "line", "columns": {"x": x, "y": known}}]}]
