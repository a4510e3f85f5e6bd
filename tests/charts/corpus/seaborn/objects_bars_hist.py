# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"v": np.random.default_rng(27).normal(size=100)})
# %% program
import seaborn.objects as so
so.Plot(df, x="v").add(so.Bars(), so.Hist(bins=6)).show()
# %% expected
c, e = np.histogram(df.v, 6)
expected = [{"kind": "histogram", "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}]}]
