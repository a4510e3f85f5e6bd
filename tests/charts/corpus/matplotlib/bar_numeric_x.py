# %% data
import numpy as np
years = np.arange(2015, 2023)
value = np.array([3.1, 3.3, 2.9, 4.2, 4.4, 1.1, 3.9, 4.8])
# %% program
import matplotlib.pyplot as plt
plt.bar(years, value, width=0.6, edgecolor="black")
plt.xlabel("year")
plt.show()
# %% expected
expected = [{"kind": "bar", "x": {"label": "year", "scale": "linear"}, "series": [{"kind": "bar", "columns": {"x": years, "y": value}}]}]
