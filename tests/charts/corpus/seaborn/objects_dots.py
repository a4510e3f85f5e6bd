# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(26)
df = pd.DataFrame({"x": rng.random(20), "y": rng.random(20), "k": ["s", "t"] * 10})
# %% program
import seaborn.objects as so
(
    so.Plot(df, x="x", y="y", color="k")
    .add(so.Dot())
    .label(title="Objects")
    .show()
)
# %% expected
expected = [{"kind": "scatter", "library": "seaborn", "title": "Objects", "x": {"label": "x", "scale": "linear"}, "series": [
    {"kind": "scatter", "label": k, "columns": {"x": df.x[df.k == k].to_numpy(), "y": df.y[df.k == k].to_numpy()}} for k in "st"]}]
