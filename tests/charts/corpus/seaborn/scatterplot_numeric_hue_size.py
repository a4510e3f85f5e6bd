# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(18)
df = pd.DataFrame({"x": rng.random(30), "y": rng.random(30), "heat": rng.random(30) * 50, "mass": rng.random(30)})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.scatterplot(data=df, x="x", y="y", hue="heat", size="mass")
plt.show()
# %% expected
expected = [{"kind": "scatter", "series": [{"kind": "scatter", "columns": {"x": df.x.to_numpy(), "y": df.y.to_numpy(), "value": df.heat.to_numpy(), "size": df.mass.to_numpy()}}]}]
