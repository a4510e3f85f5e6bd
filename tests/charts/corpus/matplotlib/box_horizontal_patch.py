# %% data
import numpy as np
data = [np.array([1, 2, 3, 4, 5, 20.0]), np.array([2, 4, 4, 5, 6, 7.0])]
# %% program
import matplotlib.pyplot as plt
bp = plt.boxplot(data, patch_artist=True, orientation="horizontal", tick_labels=["first", "second"])
for patch, color in zip(bp["boxes"], ["pink", "lightblue"]):
    patch.set_facecolor(color)
plt.show()
# %% expected
expected = [{"kind": "box", "orientation": "horizontal", "series": [{"kind": "box", "columns": {
    "label": ["first", "second"], "min": [1, 2], "q1": [2.25, 4.0], "median": [3.5, 4.5], "q3": [4.75, 5.75], "max": [5, 7], "outliers": [[20.0], []]}}]}]
