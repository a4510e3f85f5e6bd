# %% data
keys = ["na", "eu", "apac", "latam"]
labels = ["North America", "Europe", "Asia Pacific", "Latin America"]
revenue = {"na": 4.2, "eu": 3.1, "apac": 5.6, "latam": 1.2}
# %% program
import warnings
import matplotlib.pyplot as plt

warnings.filterwarnings("ignore")

fig, ax = plt.subplots(figsize=(8, 5))
ax.bar(list(revenue.keys()), list(revenue.values()), color="steelblue")
ax.set_xticklabels(labels, rotation=45, ha="right", fontsize=11)
ax.set_ylabel("Revenue ($M)")
ax.set_title("Revenue by region", fontsize=14, fontweight="bold")
ax.spines["top"].set_visible(False)
ax.spines["right"].set_visible(False)
ax.yaxis.grid(True, linestyle="--", alpha=0.5)
ax.set_axisbelow(True)
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Revenue by region", "x": {"scale": "category", "ticks": labels}, "y": {"label": "Revenue ($M)"},
    "series": [{"kind": "bar", "columns": {"x": labels, "y": [revenue[k] for k in keys]}}]}]
