# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(16)
wide = pd.DataFrame(rng.normal(size=(12, 2)).cumsum(axis=0), index=pd.date_range("2020-01-01", periods=12, freq="D"), columns=["A", "B"])
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.lineplot(data=wide, palette="tab10", linewidth=2.5)
plt.xticks(rotation=45)
plt.show()
# %% expected
x = [d.date().isoformat() for d in wide.index]
expected = [{"kind": "line", "x": {"scale": "datetime"}, "series": [{"kind": "line", "label": c, "columns": {"x": x, "y": wide[c].to_numpy()}} for c in "AB"]}]
