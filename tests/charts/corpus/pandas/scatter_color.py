# %% data
import pandas as pd
import numpy as np
rng = np.random.default_rng(5)
df = pd.DataFrame(rng.random((30, 4)), columns=["a", "b", "c", "d"])
# %% program
import matplotlib.pyplot as plt
df.plot.scatter(x="a", y="b", c="c", s=df["d"] * 200, colormap="viridis")
plt.show()
# %% expected
expected = [{"kind": "scatter", "x": {"label": "a"}, "y": {"label": "b"}, "z": {"label": "c"}, "series": [
    {"kind": "scatter", "columns": {"x": df.a, "y": df.b, "value": df.c, "size": df.d * 200}}]}]
expected[0]["series"][0]["columns"] = {k: v.tolist() for k, v in expected[0]["series"][0]["columns"].items()}
