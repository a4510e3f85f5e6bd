# %% data
import numpy as np
n = np.arange(6)
h = 0.8 ** n
# %% program
import matplotlib.pyplot as plt
plt.stem(n, h, label="h[n]")
plt.legend()
plt.show()
# %% expected
expected = [{"kind": "bar", "series": [{"kind": "bar", "label": "h[n]", "columns": {"x": n, "y": h}}]}]
