# %% data
import numpy as np
rng = np.random.default_rng(10)
groups = {"A": rng.normal(0, 1, 50), "B": rng.normal(1, 2, 51)}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for name, values in groups.items():
    fig.add_trace(go.Box(y=values, name=name, boxmean=True, boxpoints="all"))
fig

# %% expected
series = []
for name, values in groups.items():
    v = np.sort(values)
    q1, m, q3 = np.quantile(v, [0.25, 0.5, 0.75], method="hazen")
    inside = v[(v >= q1 - 1.5 * (q3 - q1)) & (v <= q3 + 1.5 * (q3 - q1))]
    series.append({"kind": "box", "label": name, "columns": {
        "label": [name], "min": [inside.min()], "q1": [q1], "median": [m], "q3": [q3], "max": [inside.max()],
        "mean": [v.mean()], "outliers": [[x for x in v if x < inside.min() or x > inside.max()]]}})
expected = [{"kind": "box", "series": series}]
