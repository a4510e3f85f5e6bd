# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(2)
df = pd.DataFrame({"weight": rng.uniform(100, 200, 150), "sex": rng.choice(["F", "M"], 150)})

# %% program
import altair as alt

alt.Chart(df).mark_bar(opacity=0.5).encode(
    x=alt.X("weight", bin=alt.Bin(maxbins=20)), y=alt.Y("count()", stack=None), color="sex").show()

# %% expected
edges = np.arange(100, 201, 5)
series = []
for sex in "FM":
    counts = np.histogram(df[df.sex == sex].weight, edges)[0]
    full = counts > 0
    series.append({"kind": "histogram", "label": sex, "columns": {
        "start": edges[:-1][full], "end": edges[1:][full], "count": counts[full]}})
expected = [{"kind": "histogram", "stacking": "overlaid", "series": series}]
