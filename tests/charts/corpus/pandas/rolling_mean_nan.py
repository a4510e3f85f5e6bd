# %% data
import pandas as pd
import numpy as np
s = pd.Series(np.arange(20.0) % 7)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
s.plot(ax=ax, label="raw", alpha=0.5)
s.rolling(5).mean().plot(ax=ax, label="mean of 5")
ax.legend()
ax.set_title("Rolling")
plt.show()
# %% expected
m = s.rolling(5).mean()
expected = [{"kind": "line", "title": "Rolling", "series": [
    {"kind": "line", "label": "raw", "columns": {"x": list(range(20)), "y": s.tolist()}},
    {"kind": "line", "label": "mean of 5", "columns": {"x": list(range(20)), "y": [None if np.isnan(v) else v for v in m]}}]}]
