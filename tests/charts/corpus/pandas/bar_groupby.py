# %% data
import pandas as pd
df = pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Lima", "Oslo"], "sales": [10, 20, 5, 7, 1.5]})
# %% program
import matplotlib.pyplot as plt
df.groupby("city")["sales"].sum().sort_values(ascending=False).plot(kind="bar", color="teal", rot=0)
plt.title("Sales by city")
plt.ylabel("sales")
plt.show()
# %% expected
s = df.groupby("city")["sales"].sum().sort_values(ascending=False)
expected = [{"kind": "bar", "library": "pandas", "title": "Sales by city", "orientation": "vertical", "x": {"label": "city", "scale": "category", "ticks": list(s.index)}, "y": {"label": "sales"},
    "series": [{"kind": "bar", "columns": {"x": list(s.index), "y": s.tolist()}}]}]
