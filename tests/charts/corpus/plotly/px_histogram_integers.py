# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"age": np.random.default_rng(4).integers(18, 80, 200)})

# %% program
import plotly.express as px

fig = px.histogram(df, x="age", nbins=20)
fig.show()

# %% expected
# Integers get bins of 5 whose borders lie between the integers.
start = df.age.min() // 5 * 5 - 0.5
edges = np.arange(start, df.age.max() + 5, 5)
expected = [{
    "kind": "histogram", "x": {"label": "age"}, "y": {"label": "count"},
    "series": [{"kind": "histogram", "columns": {
        "start": edges[:-1], "end": edges[1:], "count": np.histogram(df.age, edges)[0]}}],
}]
