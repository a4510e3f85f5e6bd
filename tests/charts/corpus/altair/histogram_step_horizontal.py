# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"minutes": np.random.default_rng(3).integers(0, 60, 90)})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(y=alt.Y("minutes:Q").bin(step=15), x="count()")

# %% expected
edges = np.array([0, 15, 30, 45, 60])
expected = [{"kind": "histogram", "orientation": "horizontal", "series": [{"columns": {
    "start": edges[:-1], "end": edges[1:], "count": np.histogram(df.minutes, edges)[0]}}]}]
