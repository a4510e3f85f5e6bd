# %% data
import numpy as np
x = np.linspace(-5, 5, 21)
y = np.sinh(x)
# %% program
import matplotlib.pyplot as plt
fig, axes = plt.subplots(1, 2, figsize=(10, 4))
axes[0].semilogy(x, np.exp(x))
axes[0].set_title("semilogy")
axes[1].plot(x, y)
axes[1].set_yscale("symlog")
axes[1].set_title("symlog")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "row": 0, "column": 0, "title": "semilogy", "y": {"scale": "log"}, "series": [{"kind": "line", "columns": {"x": x, "y": np.exp(x)}}]},
    {"kind": "line", "row": 0, "column": 1, "title": "symlog", "y": {"scale": "symlog"}, "series": [{"kind": "line", "columns": {"x": x, "y": y}}]},
]}]
