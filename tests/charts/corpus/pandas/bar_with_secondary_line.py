# %% data
import pandas as pd
df = pd.DataFrame({"revenue": [100, 150, 130], "margin": [0.21, 0.25, 0.19]}, index=["Q1", "Q2", "Q3"])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 4))
df["revenue"].plot(kind="bar", ax=ax, color="lightblue", rot=0)
df["margin"].plot(ax=ax, secondary_y=True, color="red", marker="o")
ax.set_ylabel("Revenue")
ax.right_ax.set_ylabel("Margin")
ax.set_title("Revenue and margin")
ax.set_xlabel("Quarter")
plt.tight_layout()
plt.show()
# %% expected
quarters = ["Q1", "Q2", "Q3"]
expected = [{"kind": "bar", "title": "Revenue and margin", "x": {"label": "Quarter", "scale": "category", "ticks": quarters}, "y": {"label": "Revenue"}, "y2": {"label": "Margin"},
    "series": [{"kind": "bar", "axis": "y", "columns": {"x": quarters, "y": [100, 150, 130]}},
               {"kind": "line", "axis": "y2", "columns": {"x": quarters, "y": [0.21, 0.25, 0.19]}}]}]
