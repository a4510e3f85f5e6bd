# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(15)
df = pd.DataFrame({"t": np.tile(np.arange(5), 8), "region": np.repeat(["parietal", "frontal"], 20), "signal": rng.normal(size=40)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.lineplot(data=df, x="t", y="signal", hue="region", errorbar="sd")
plt.show()
# %% expected
series = []
for region in ("parietal", "frontal"):
    g = df[df.region == region].groupby("t").signal
    m, s = g.mean().to_numpy(), g.std().to_numpy()
    series.append({"kind": "line", "label": region, "columns": {"x": np.arange(5), "y": m}})
    series.append({"kind": "area", "label": region, "columns": {"x": np.arange(5), "y": m + s, "y_base": m - s}})
expected = [{"kind": "line", "series": series}]
