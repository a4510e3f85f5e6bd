# %% data
import numpy as np
x = np.arange(20000) / 100
y = np.sin(x) * x
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, label="long")
plt.legend()
plt.show()
# %% expected
expected = [{"kind": "line", "series": [{"kind": "line", "label": "long", "total": 20000, "columns": {"x": x, "y": y}}]}]
