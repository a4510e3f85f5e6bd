# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(9)
df = pd.DataFrame([(h, d, int(rng.integers(0, 50))) for d in ["Mon", "Tue", "Wed"] for h in range(4)], columns=["hour", "day", "n"])

# %% program
import altair as alt

alt.Chart(df).mark_rect().encode(x="hour:O", y=alt.Y("day:N", sort=["Mon", "Tue", "Wed"]), color="n:Q")

# %% expected
expected = [{"kind": "heatmap", "x": {"label": "hour", "scale": "category"}, "y": {"label": "day"}, "z": {"label": "n"},
             "series": [{"kind": "heatmap", "columns": {"x": [0, 1, 2, 3], "y": ["Mon", "Tue", "Wed"],
                         "z": df.n.to_numpy().reshape(3, 4)}}]}]
