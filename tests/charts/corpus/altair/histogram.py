# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"rating": np.random.default_rng(1).uniform(0, 10, 200)})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(alt.X("rating:Q", bin=True), y="count()")

# %% expected
edges = np.arange(0, 11)
expected = [{"kind": "histogram", "orientation": "vertical", "x": {"label": "rating (binned)", "scale": "linear"},
             "y": {"label": "Count of Records"},
             "series": [{"kind": "histogram", "columns": {"start": edges[:-1], "end": edges[1:],
                         "count": np.histogram(df.rating, edges)[0]}}]}]
