# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(8)
df = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40), "z": rng.normal(size=40)})

# %% program
import altair as alt

alt.Chart(df).mark_point().encode(x="x:Q", y="y:Q", color=alt.Color("z:Q", scale=alt.Scale(scheme="viridis"))).show()

# %% expected
expected = [{"kind": "scatter", "z": {"label": "z"}, "series": [{"columns": {"x": df.x, "y": df.y, "value": df.z}}]}]
