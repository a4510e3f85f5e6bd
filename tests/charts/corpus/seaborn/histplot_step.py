# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(4)
df = pd.DataFrame({"t": rng.normal(size=100), "k": ["on", "off"] * 50})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot(df, x="t", hue="k", element="step", bins=8)
plt.savefig("hist.png")
# %% expected
e = np.histogram_bin_edges(df.t, 8)
expected = [{"kind": "histogram", "series": [
    {"kind": "histogram", "label": s, "columns": {"start": e[:-1], "end": e[1:], "count": np.histogram(df.t[df.k == s], e)[0]}} for s in ("on", "off")]}]
