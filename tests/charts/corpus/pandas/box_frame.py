# %% data
import pandas as pd
import numpy as np
df = pd.DataFrame({"a": [1, 2, 3, 4, 5, 30.0], "b": [5, 6, 7, 8, 9, 10.0]})
# %% program
import matplotlib.pyplot as plt
df.plot.box(title="Box")
plt.show()
# %% expected
expected = [{"kind": "box", "title": "Box", "orientation": "vertical", "series": [{"kind": "box", "columns": {
    "label": ["a", "b"], "min": [1, 5], "q1": [2.25, 6.25], "median": [3.5, 7.5], "q3": [4.75, 8.75], "max": [5, 10], "outliers": [[30.0], []]}}]}]
