# %% data
import numpy as np
rng = np.random.default_rng(333)
a, b = rng.uniform(0, 10, 60), rng.uniform(2, 8, 40)

# %% program
import plotly.graph_objects as go

fig = go.Figure()
bins = dict(start=0, end=10, size=2)
fig.add_trace(go.Histogram(x=a, name="control", xbins=bins, histnorm="percent", marker_color="#EB89B5"))
fig.add_trace(go.Histogram(x=b, name="experimental", xbins=bins, histnorm="percent", marker_color="#330C73"))
fig.update_layout(
    title_text="Sampled results",
    xaxis_title_text="Value",
    yaxis_title_text="Percent",
    barmode="overlay",
    bargap=0.2,
)
fig.update_traces(opacity=0.75)
fig.show()

# %% expected
edges = np.arange(0, 11, 2)
def counted(values):
    part = np.histogram(values, edges)[0] * 100 / len(values)
    kept = np.flatnonzero(part)
    return {"start": edges[:-1][kept[0]:kept[-1] + 1], "end": edges[1:][kept[0]:kept[-1] + 1], "count": part[kept[0]:kept[-1] + 1]}
expected = [{"kind": "histogram", "stacking": "overlaid", "y": {"label": "Percent"}, "series": [
    {"kind": "histogram", "label": "control", "columns": counted(a)},
    {"kind": "histogram", "label": "experimental", "columns": counted(b)}]}]
