# %% data
import numpy as np
v = np.array([3.0, 1.0, 2.0, 4.0])
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.ecdfplot(v)
plt.show()
# %% expected
expected = [{"kind": "step", "series": [{"kind": "step", "columns": {"x": [None, 1, 2, 3, 4], "y": [0, 0.25, 0.5, 0.75, 1]}}]}]
