# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(331)
df = pd.DataFrame({"height": rng.normal(170, 8, 20), "weight": rng.normal(70, 9, 20), "age": rng.integers(18, 60, 20),
                   "group": np.tile(["A", "B"], 10)})

# %% program
import plotly.express as px

fig = px.scatter_matrix(
    df,
    dimensions=["height", "weight", "age"],
    color="group",
    title="Pairs",
    labels={"height": "Height (cm)"},
)
fig.update_traces(diagonal_visible=False, showupperhalf=False)
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Pairs", "series": [
    {"kind": "other", "label": g, "columns": {"Height (cm)": d.height, "weight": d.weight, "age": d.age}}
    for g, d in df.groupby("group")]}]
