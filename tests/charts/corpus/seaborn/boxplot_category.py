# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"day": ["Mon"] * 6 + ["Tue"] * 6, "bill": [1, 2, 3, 4, 5, 30.0, 5, 6, 7, 8, 9, 10]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.boxplot(x="day", y="bill", data=df)
plt.title("Bills")
plt.show()
# %% expected
expected = [{"kind": "box", "title": "Bills", "orientation": "vertical", "x": {"label": "day", "scale": "category"}, "series": [{"kind": "box", "columns": {
    "label": ["Mon", "Tue"], "min": [1, 5], "q1": [2.25, 6.25], "median": [3.5, 7.5], "q3": [4.75, 8.75], "max": [5, 10], "outliers": [[30], []]}}]}]
