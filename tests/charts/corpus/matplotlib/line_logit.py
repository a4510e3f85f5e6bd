# %% data
import numpy as np
p = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
# %% program
import matplotlib.pyplot as plt
plt.plot(range(5), p)
plt.yscale("logit")
plt.ylabel("probability")
plt.show()
# %% expected
expected = [{"kind": "line", "y": {"label": "probability", "scale": "logit"}, "series": [
    {"kind": "line", "columns": {"x": [0, 1, 2, 3, 4], "y": p}}]}]
