# %% data
import pandas as pd
df = pd.DataFrame({"hits": [10, 30, 20]}, index=["m1", "m2", "m3"])
# %% program
import matplotlib.pyplot as plt

ax = df.plot(y="hits", marker="o", legend=False, figsize=(6, 4))
ax.set_xticks([0, 1, 2])
ax.set_xticklabels(["January", "February", "March"])
ax.set_ylabel("Hits")
ax.set_title("Hits per month")
ax.fill_between([0, 1, 2], 0, df["hits"], alpha=0.2)
plt.tight_layout()
plt.show()
# %% expected
months = ["January", "February", "March"]
expected = [{"kind": "line", "title": "Hits per month", "x": {"scale": "category", "ticks": months}, "series": [
    {"kind": "line", "columns": {"x": months, "y": [10, 30, 20]}}, {"kind": "area", "columns": {"x": months, "y": [10, 30, 20]}}]}]
