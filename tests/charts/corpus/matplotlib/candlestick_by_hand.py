# %% data
import numpy as np
opened = np.array([10.0, 11.0, 10.5, 12.0])
closed = np.array([11.0, 10.5, 12.0, 11.5])
low = np.array([9.5, 10.0, 10.25, 11.0])
high = np.array([11.5, 11.25, 12.5, 12.75])
# %% program
import matplotlib.pyplot as plt
day = np.arange(4)
up = closed >= opened
plt.figure(figsize=(8, 4))
plt.vlines(day, low, high, color="black", linewidth=1)
plt.bar(day[up], (closed - opened)[up], bottom=opened[up], color="green")
plt.bar(day[~up], (closed - opened)[~up], bottom=opened[~up], color="red")
plt.title("Candles")
plt.show()
# %% expected
up = closed >= opened
def bars(m): return {"kind": "bar", "columns": {"x": np.arange(4)[m], "y": (closed - opened)[m], "base": opened[m]}}
expected = [{"kind": "bar", "title": "Candles", "series": [
    {"kind": "other", "columns": {"x": [0, 1, 2, 3], "y_low": low, "y_high": high}}, bars(up), bars(~up)]}]
