# %% data
import numpy as np
years = ["2021", "2022", "2023"]
a, b, c = [1.5, 2.5, 3.0], [2.0, 1.0, 4.0], [0.5, 0.75, 0.25]
# %% program
import matplotlib.pyplot as plt
w = 0.3
pos = np.arange(3)
plt.bar(pos, a, w, label="A")
plt.bar(pos + w, b, w, label="B")
plt.bar(pos + 2 * w, c, w, label="C")
plt.xticks(pos, years)
plt.legend()
plt.title("Three groups")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Three groups", "stacking": "grouped", "x": {"scale": "category"},
    "series": [{"kind": "bar", "label": n, "columns": {"x": years, "y": v}} for n, v in zip("ABC", (a, b, c))]}]
