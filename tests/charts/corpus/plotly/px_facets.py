# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(16)
df = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40),
                   "sex": np.tile(["F", "M"], 20), "time": np.repeat(["Lunch", "Dinner"], 20)})

# %% program
import plotly.express as px

fig = px.scatter(df, x="x", y="y", facet_col="sex", facet_row="time")
fig.show()

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "row": r, "column": c, "title": f"sex={s} | time={t}", "series": [
        {"kind": "scatter", "columns": {k: df[(df.sex == s) & (df.time == t)][k] for k in "xy"}}]}
    for r, t in enumerate(["Lunch", "Dinner"]) for c, s in enumerate("FM")
]}]
