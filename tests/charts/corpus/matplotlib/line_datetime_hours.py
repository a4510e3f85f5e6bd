# %% data
import pandas as pd
import numpy as np
index = pd.date_range("2023-06-01 06:00", periods=48, freq="h")
load = 50 + 10 * np.sin(np.arange(48) / 24 * 2 * np.pi)
# %% program
import matplotlib.pyplot as plt
plt.figure()
plt.plot(index, load)
plt.gcf().autofmt_xdate()
plt.xlabel("hour")
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"label": "hour", "scale": "datetime"}, "series": [
    {"kind": "line", "columns": {"x": [t.isoformat() for t in index], "y": load}}]}]
