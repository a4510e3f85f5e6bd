# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(2)
df = pd.DataFrame({"v": rng.uniform(-1, 1, 90), "g": ["x", "y", "z"] * 30})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot(data=df, x="v", hue="g", multiple="dodge", binwidth=0.5, binrange=(-1, 1))
plt.show()
# %% expected
e = np.linspace(-1, 1, 5)
expected = [{"kind": "histogram", "stacking": "grouped", "series": [
    {"kind": "histogram", "label": s, "columns": {"start": e[:-1], "end": e[1:], "count": np.histogram(df.v[df.g == s], e)[0]}} for s in "xyz"]}]
