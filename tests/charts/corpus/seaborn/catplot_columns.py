# %% data
import pandas as pd
df = pd.DataFrame({"g": ["a", "b", "a", "b"], "sex": ["m", "m", "f", "f"], "v": [1.0, 2.0, 3.0, 4.5]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.catplot(data=df, x="g", y="v", col="sex", kind="bar", errorbar=None)
plt.show()
# %% expected
expected = [{"kind": "multi", "library": "seaborn", "charts": [
    {"kind": "bar", "title": "sex = m", "row": 0, "column": 0, "series": [{"kind": "bar", "columns": {"x": ["a", "b"], "y": [1, 2]}}]},
    {"kind": "bar", "title": "sex = f", "row": 0, "column": 1, "series": [{"kind": "bar", "columns": {"x": ["a", "b"], "y": [3, 4.5]}}]}]}]
