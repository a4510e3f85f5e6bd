# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"g": ["a"] * 5 + ["b"] * 5, "v": [1.0, 2, 3, 4, 5, 2, 3, 4, 5, 6]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
ax = sns.boxplot(data=df, x="g", y="v", color="white")
sns.swarmplot(data=df, x="g", y="v", ax=ax, color="black")
plt.show()
# %% expected
expected = [{"kind": "box", "series": [
    {"kind": "box", "columns": {"label": ["a", "b"], "min": [1, 2], "q1": [2, 3], "median": [3, 4], "q3": [4, 5], "max": [5, 6]}},
    {"kind": "scatter", "columns": {"x": ["a"] * 5 + ["b"] * 5, "y": df.v.tolist()}}]}]
