# %% data
import pandas as pd
df = pd.DataFrame({"dept": ["eng", "eng", "ops", "ops", "hr", "hr"], "year": ["2022", "2023"] * 3,
                   "headcount": [40, 55, 22, 25, 8, 9]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

plt.figure(figsize=(8, 5))
ax = sns.barplot(data=df, x="dept", y="headcount", hue="year", errorbar=None, palette=["#a1c9f4", "#ff9f9b"])
names = {"eng": "Engineering", "ops": "Operations", "hr": "Human Resources"}
ax.set_xticks(ax.get_xticks())
ax.set_xticklabels([names[t.get_text()] for t in ax.get_xticklabels()], rotation=15)
ax.set(xlabel="Department", ylabel="Headcount", title="Headcount by department")
ax.legend(title="Year", bbox_to_anchor=(1.02, 1), loc="upper left")
plt.tight_layout()
plt.show()
# %% expected
names = ["Engineering", "Operations", "Human Resources"]
expected = [{"kind": "bar", "title": "Headcount by department", "stacking": "grouped", "x": {"label": "Department", "ticks": names, "scale": "category"},
    "series": [{"kind": "bar", "label": y, "columns": {"x": names, "y": df[df.year == y].headcount.tolist()}} for y in ("2022", "2023")]}]
