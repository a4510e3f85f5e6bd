# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame(np.random.default_rng(14).normal(size=(50, 4)), columns=list("abcd"))
corr = df.corr()

# %% program
import plotly.express as px

fig = px.imshow(corr, text_auto=True, title="Correlation")
fig.show()

# %% expected
expected = [{"kind": "heatmap", "title": "Correlation",
             "series": [{"kind": "heatmap", "columns": {"x": list("abcd"), "y": list("abcd"), "z": corr.to_numpy()}}]}]
