# %% data
import pandas as pd
df = pd.DataFrame({"code": ["DE", "FR", "IT"], "gdp": [4.4, 3.0, 2.2]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

plt.figure(figsize=(8, 3))
ax = sns.barplot(data=df.sort_values("gdp"), y="code", x="gdp", orient="h", color="tab:cyan")
full = {"DE": "Germany", "FR": "France", "IT": "Italy"}
ax.set_yticks(range(len(df)))
ax.set_yticklabels([full[c] for c in df.sort_values("gdp")["code"]])
ax.set_xlabel("GDP (trillion USD)")
ax.set_ylabel("")
ax.set_title("GDP 2023")
ax.bar_label(ax.containers[0], fmt="%.1f")
plt.tight_layout()
plt.show()
# %% expected
names = ["Italy", "France", "Germany"]
expected = [{"kind": "bar", "orientation": "horizontal", "title": "GDP 2023", "x": {"label": "GDP (trillion USD)"}, "y": {"scale": "category", "ticks": names},
    "series": [{"kind": "bar", "columns": {"x": [2.2, 3.0, 4.4], "y": names}}]}]
