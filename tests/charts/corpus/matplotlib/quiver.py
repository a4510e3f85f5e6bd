# %% data
import numpy as np
X, Y = np.meshgrid(np.arange(3), np.arange(3))
U, V = -Y * 1.0, X * 1.0
# %% program
import matplotlib.pyplot as plt
plt.quiver(X, Y, U, V)
plt.title("field")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "field", "series": [{"kind": "other", "columns": {"x": X.ravel(), "y": Y.ravel(), "u": U.ravel(), "v": V.ravel()}}]}]
