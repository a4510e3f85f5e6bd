# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(17)
df = pd.DataFrame({"bill": rng.normal(20, 5, 45), "tip": rng.normal(3, 1, 45), "time": ["Lunch", "Dinner", "Brunch"] * 15})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.scatterplot(data=df, x="bill", y="tip", hue="time", style="time")
plt.title("Tips")
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "Tips", "series": [
    {"kind": "scatter", "label": t, "columns": {"x": df.bill[df.time == t].to_numpy(), "y": df.tip[df.time == t].to_numpy()}} for t in ("Lunch", "Dinner", "Brunch")]}]
