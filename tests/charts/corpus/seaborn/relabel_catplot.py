# %% data
import pandas as pd
df = pd.DataFrame({"kind": ["p", "q", "p", "q"], "site": ["north", "north", "south", "south"], "value": [3.0, 5.0, 4.0, 8.0]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

g = sns.catplot(data=df, x="kind", y="value", col="site", kind="bar", errorbar=None, height=4, aspect=0.8)
g.set_xticklabels(["Pilot", "Quality run"])
g.set_axis_labels("", "Mean value")
g.set_titles("{col_name} site")
g.figure.suptitle("Values by site", y=1.03)
for ax in g.axes.flat:
    for container in ax.containers:
        ax.bar_label(container, fmt="%.1f")
plt.show()
# %% expected
names = ["Pilot", "Quality run"]
expected = [{"kind": "multi", "title": "Values by site", "charts": [
    {"kind": "bar", "title": "north site", "x": {"scale": "category", "ticks": names}, "series": [{"kind": "bar", "columns": {"x": names, "y": [3, 5]}}]},
    {"kind": "bar", "title": "south site", "x": {"scale": "category", "ticks": names}, "series": [{"kind": "bar", "columns": {"x": names, "y": [4, 8]}}]}]}]
