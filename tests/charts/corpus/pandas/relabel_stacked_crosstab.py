# %% data
import pandas as pd
df = pd.DataFrame({"edu": ["hs", "hs", "ba", "ba", "ba", "ms"], "churn": [0, 1, 0, 0, 1, 0]})
# %% program
import matplotlib.pyplot as plt

table = pd.crosstab(df["edu"], df["churn"]).loc[["hs", "ba", "ms"]]
ax = table.plot(kind="bar", stacked=True, color=["#4daf4a", "#e41a1c"], figsize=(7, 4))
ax.set_xticklabels(["High school", "Bachelor", "Master"], rotation=0)
ax.legend(["Stayed", "Left"], title="Outcome")
ax.set_xlabel("Education")
ax.set_ylabel("Customers")
ax.set_title("Churn by education")
plt.tight_layout()
plt.show()
# %% expected
names = ["High school", "Bachelor", "Master"]
expected = [{"kind": "bar", "title": "Churn by education", "stacking": "stacked", "x": {"label": "Education", "scale": "category", "ticks": names},
    "series": [{"kind": "bar", "label": "Stayed", "columns": {"x": names, "y": [1, 2, 1]}},
               {"kind": "bar", "label": "Left", "columns": {"x": names, "y": [1, 1, 0]}}]}]
