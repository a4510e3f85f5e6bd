# %% data
import pandas as pd
import numpy as np
s = pd.Series(np.random.default_rng(1).normal(50, 5, 300), name="weight")
# %% program
import matplotlib.pyplot as plt
s.plot.hist(bins=20, alpha=0.7, title="Weights")
plt.show()
# %% expected
c, e = np.histogram(s, 20)
expected = [{"kind": "histogram", "library": "pandas", "title": "Weights", "y": {"label": "Frequency"}, "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}]}]
