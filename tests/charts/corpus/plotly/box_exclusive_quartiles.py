# %% data
import numpy as np
scores = {"Class A": [55, 60, 61, 68, 70, 74, 81, 90], "Class B": [40, 52, 66, 67, 69, 71, 73]}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for name, values in scores.items():
    fig.add_trace(
        go.Box(
            y=values,
            name=name,
            quartilemethod="exclusive",
            boxpoints="outliers",
            boxmean=True,
        )
    )
fig.update_layout(title="Scores", yaxis_title="Points", showlegend=False)
fig.update_traces(marker_size=4)
fig.show()

# %% expected
import statistics
def row(name):
    v = sorted(scores[name])
    half = len(v) // 2
    q1, q3 = statistics.median(v[:half]), statistics.median(v[len(v) - half:])
    reach = 1.5 * (q3 - q1)
    inside = [x for x in v if q1 - reach <= x <= q3 + reach]
    return {"label": [name], "min": [inside[0]], "q1": [q1], "median": [statistics.median(v)], "q3": [q3], "max": [inside[-1]],
            "mean": [statistics.fmean(v)], "outliers": [[x for x in v if x not in inside]]}
expected = [{"kind": "box", "orientation": "vertical", "y": {"label": "Points"}, "x": {"ticks": list(scores)}, "series": [
    {"kind": "box", "label": n, "columns": row(n)} for n in scores]}]
