# %% data
import pandas as pd
df = pd.DataFrame({"t": ["pre", "post"] * 4, "arm": ["A"] * 4 + ["B"] * 4, "v": [1.0, 3.0, 2.0, 5.0, 1.0, 1.5, 2.0, 2.5]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.pointplot(data=df, x="t", y="v", hue="arm", errorbar=None)
plt.show()
# %% expected
expected = [{"kind": "line", "series": [{"kind": "line", "label": "A", "columns": {"x": ["pre", "post"], "y": [1.5, 4.0]}}, {"kind": "line", "label": "B", "columns": {"x": ["pre", "post"], "y": [1.5, 2.0]}}]}]
