# %% data
import pandas as pd
df = pd.DataFrame({"amount": [300, 120, 250], "price": [2.5, 4.0, 3.25]}, index=["gold", "silver", "bronze"])
# %% program
import matplotlib.pyplot as plt

ax = df.plot(kind="bar", secondary_y="price", rot=0, figsize=(8, 5), title="Amount and price", mark_right=False)
ax.set_ylabel("Amount")
ax.right_ax.set_ylabel("Price")
ax.set_xlabel("Medal")
ax.grid(axis="y", alpha=0.3)
plt.tight_layout()
plt.show()
# %% expected
names = ["gold", "silver", "bronze"]
expected = [{"kind": "bar", "title": "Amount and price", "x": {"label": "Medal", "scale": "category", "ticks": names}, "y": {"label": "Amount"}, "y2": {"label": "Price"},
    "series": [{"kind": "bar", "axis": "y", "label": "amount", "columns": {"x": names, "y": [300, 120, 250]}},
               {"kind": "bar", "axis": "y2", "label": "price", "columns": {"x": names, "y": [2.5, 4.0, 3.25]}}]}]
