# %% data
import pandas as pd
df = pd.DataFrame({"team": ["red", "blue", "red", "green"], "points": [3, 1, 4, 2]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.barplot(df, x="points", y="team", estimator="sum", errorbar=None, color="salmon")
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "series": [{"kind": "bar", "columns": {"x": [7, 1, 2], "y": ["red", "blue", "green"]}}]}]
