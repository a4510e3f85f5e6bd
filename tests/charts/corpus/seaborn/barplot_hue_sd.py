# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(9)
df = pd.DataFrame({"g": np.repeat(["a", "b", "c"], 8), "s": ["m", "f"] * 12, "v": rng.normal(5, 1, 24)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.barplot(data=df, x="g", y="v", hue="s", errorbar="sd")
plt.legend(title="Sex")
plt.show()
# %% expected
stat = df.groupby(["s", "g"]).v.agg(["mean", "std"])
def part(s): return stat.loc[s]
expected = [{"kind": "bar", "stacking": "grouped", "series": [
    *({"kind": "bar", "label": s, "columns": {"x": ["a", "b", "c"], "y": part(s)["mean"].to_numpy()}} for s in "mf"),
    *({"kind": "errorbar", "columns": {"x": ["a", "b", "c"], "y": part(s)["mean"].to_numpy(), "y_low": (part(s)["mean"] - part(s)["std"]).to_numpy(), "y_high": (part(s)["mean"] + part(s)["std"]).to_numpy()}} for s in "mf")]}]
