# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"k": ["one"] * 5 + ["two"] * 5 + ["three"] * 5, "v": [1.0, 2, 3, 4, 5, 2, 3, 4, 5, 60, 5, 6, 7, 8, 9]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
plt.figure(figsize=(7, 4))
sns.boxplot(data=df, y="k", x="v", hue="k", palette="Set2", legend=False)
sns.despine()
plt.show()
# %% expected
expected = [{"kind": "box", "orientation": "horizontal", "stacking": None, "series": [{"kind": "box", "label": None, "columns": {
    "label": ["one", "two", "three"], "min": [1, 2, 5], "q1": [2, 3, 6], "median": [3, 4, 7], "q3": [4, 5, 8], "max": [5, 5, 9], "outliers": [[], [60], []]}}]}]
