# %% data
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 1, 2], "y": [3.0, 4.0, 5.0, 7.0], "site": ["N", "N", "S", "S"]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

g = sns.FacetGrid(df, col="site", height=3)
g.map_dataframe(sns.barplot, x="x", y="y", errorbar=None, order=[1, 2])
g.set_titles("Site {col_name}")
g.set_axis_labels("Phase", "Yield")
for ax in g.axes.flat:
    ax.set_xticks([0, 1], labels=["Before", "After"])
g.tight_layout()
plt.show()
# %% expected
phases = ["Before", "After"]
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "title": f"Site {s}", "x": {"label": "Phase", "scale": "category", "ticks": phases}, "series": [{"kind": "bar", "columns": {"x": phases, "y": df[df.site == s].y.tolist()}}]} for s in "NS"]}]
