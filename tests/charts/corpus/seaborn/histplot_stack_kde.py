# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(1)
df = pd.DataFrame({"v": rng.normal(size=120), "g": rng.choice(["a", "b"], 120)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
ax = sns.histplot(df, x="v", hue="g", multiple="stack", bins=10, hue_order=["a", "b"])
ax.set_title("Stacked")
plt.show()
# %% expected
e = np.histogram_bin_edges(df.v, 10)
expected = [{"kind": "histogram", "title": "Stacked", "stacking": "stacked", "series": [
    {"kind": "histogram", "label": s, "columns": {"start": e[:-1], "end": e[1:], "count": np.histogram(df.v[df.g == s], e)[0]}} for s in "ab"]}]
