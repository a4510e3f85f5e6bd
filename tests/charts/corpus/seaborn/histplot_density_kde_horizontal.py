# %% data
import numpy as np
values = np.random.default_rng(3).gamma(3, 2, 150)
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot(y=values, stat="density", bins=15)
plt.ylabel("waiting time")
plt.show()
# %% expected
c, e = np.histogram(values, 15, density=True)
expected = [{"kind": "histogram", "orientation": "horizontal", "y": {"label": "waiting time"}, "x": {"label": "Density"}, "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}]}]
