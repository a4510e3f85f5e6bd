# %% data
import pandas as pd
df = pd.DataFrame({"day": ["Thu", "Fri", "Sat", "Thu", "Fri", "Sat"], "tip": [2.5, 3.0, 4.0, 3.5, 1.0, 6.0]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.barplot(data=df, x="day", y="tip", errorbar="sd", palette="Blues_d", hue="day", legend=False)
plt.title("Mean tip")
plt.show()
# %% expected
g = df.groupby("day", sort=False).tip
m, s = g.mean(), g.std()
days = ["Thu", "Fri", "Sat"]
expected = [{"kind": "bar", "title": "Mean tip", "orientation": "vertical", "x": {"label": "day", "scale": "category", "ticks": days}, "y": {"label": "tip"}, "series": [
    {"kind": "bar", "label": None, "columns": {"x": days, "y": m.to_numpy()}},
    {"kind": "errorbar", "columns": {"x": days, "y": m.to_numpy(), "y_low": (m - s).to_numpy(), "y_high": (m + s).to_numpy()}}]}]
