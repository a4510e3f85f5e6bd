# %% data
import pandas as pd
df = pd.DataFrame({"month": ["Jan", "Feb", "Mar", "Apr"], "sold": [200, 260, 240, 310], "rating": [4.1, 4.3, 4.0, 4.6]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(8, 5))
sns.barplot(data=df, x="month", y="sold", color="lightgray", ax=ax)
ax2 = ax.twinx()
sns.lineplot(data=df, x="month", y="rating", marker="o", color="crimson", ax=ax2)
ax.set_xlabel("Month")
ax.set_ylabel("Units sold")
ax2.set_ylabel("Mean rating")
ax2.set_ylim(0, 5)
ax.set_title("Sales and rating")
plt.tight_layout()
plt.show()
# %% expected
months = df.month.tolist()
expected = [{"kind": "bar", "title": "Sales and rating", "x": {"label": "Month", "scale": "category", "ticks": months}, "y": {"label": "Units sold"}, "y2": {"label": "Mean rating"},
    "series": [{"kind": "bar", "axis": "y", "columns": {"x": months, "y": df.sold.tolist()}},
               {"kind": "line", "axis": "y2", "columns": {"x": months, "y": df.rating.tolist()}}]}]
