# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(7)
df = pd.DataFrame({"day": rng.choice(["Thu", "Fri", "Sat", "Sun"], 100), "tip": rng.uniform(1, 9, 100).round(2)})

# %% program
import plotly.express as px

fig = px.histogram(df, x="day", y="tip", histfunc="avg", category_orders={"day": ["Thu", "Fri", "Sat", "Sun"]})
fig.show()

# %% expected
mean = df.groupby("day").tip.mean()[["Thu", "Fri", "Sat", "Sun"]]
expected = [{
    "kind": "bar", "x": {"label": "day", "scale": "category", "ticks": list(mean.index)},
    "y": {"label": "avg of tip"},
    "series": [{"kind": "bar", "columns": {"x": mean.index, "y": mean}}],
}]
