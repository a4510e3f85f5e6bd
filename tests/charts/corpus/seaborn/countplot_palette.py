# %% data
import pandas as pd
df = pd.DataFrame({"fruit": ["fig", "kiwi", "fig", "lime", "fig", "kiwi"]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
ax = sns.countplot(data=df, x="fruit", hue="fruit", palette="viridis", legend=False)
for container in ax.containers:
    ax.bar_label(container)
plt.show()
# %% expected
expected = [{"kind": "bar", "stacking": None, "series": [{"kind": "bar", "columns": {"x": ["fig", "kiwi", "lime"], "y": [3, 2, 1]}}]}]
