# %% data
import pandas as pd
import numpy as np
rng = np.random.default_rng(6)
df = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
# %% program
import matplotlib.pyplot as plt
df.plot.hexbin(x="x", y="y", gridsize=8)
plt.show()
# %% expected
expected = [{"kind": "scatter", "library": "pandas", "x": {"label": "x"}, "series": [{"kind": "scatter"}]}]
