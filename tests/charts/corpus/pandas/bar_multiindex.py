# %% data
import pandas as pd
df = pd.DataFrame({"year": [2022, 2022, 2023, 2023], "region": ["E", "W", "E", "W"], "sales": [5, 7, 6, 11]})
# %% program
import matplotlib.pyplot as plt

grouped = df.groupby(["year", "region"])["sales"].sum()
ax = grouped.plot.bar(figsize=(7, 4), color="peru", rot=45)
ax.set_title("Sales by year and region")
ax.set_ylabel("Sales")
ax.set_xlabel("Year and region")
for patch in ax.patches:
    ax.annotate(f"{patch.get_height():.0f}", (patch.get_x() + patch.get_width() / 2, patch.get_height()),
                ha="center", va="bottom")
plt.tight_layout()
plt.savefig("sales.png", dpi=100)
plt.show()
# %% expected
names = ["(2022, E)", "(2022, W)", "(2023, E)", "(2023, W)"]
expected = [{"kind": "bar", "library": "pandas", "title": "Sales by year and region", "x": {"label": "Year and region", "scale": "category", "ticks": names},
    "annotations": [{"text": str(v)} for v in df.sales],
    "series": [{"kind": "bar", "columns": {"x": names, "y": df.sales.tolist()}}]}]
