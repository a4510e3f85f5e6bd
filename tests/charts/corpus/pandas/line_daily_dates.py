# %% data
import pandas as pd
import numpy as np
rng = np.random.default_rng(0)
ts = pd.Series(rng.normal(size=60).cumsum(), index=pd.date_range("2024-01-15", periods=60, freq="D"), name="walk")
# %% program
ax = ts.plot(figsize=(10, 4), legend=True)
ax.set_title("Walk")
ax.figure.savefig("walk.png")
# %% expected
expected = [{"kind": "line", "title": "Walk", "x": {"scale": "datetime"}, "series": [
    {"kind": "line", "label": "walk", "columns": {"x": [d.date().isoformat() for d in ts.index], "y": ts.to_numpy()}}]}]
