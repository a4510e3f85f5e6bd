# %% data
import numpy as np
angles = np.linspace(0, 2 * np.pi, 7)[:-1]
centres = [(0, 0), (3, 1)]

# %% program
from bokeh.plotting import figure, show

xs = [[cx + np.cos(a) for a in angles] for cx, _ in centres]
ys = [[cy + np.sin(a) for a in angles] for _, cy in centres]
p = figure(title="Hexagons", match_aspect=True)
p.patches(
    xs,
    ys,
    color=["firebrick", "navy"],
    alpha=[0.8, 0.3],
    line_width=2,
)
p.xaxis.axis_label = "x (m)"
p.yaxis.axis_label = "y (m)"
show(p)

# %% expected
expected = [{"kind": "other", "title": "Hexagons", "series": [{"kind": "other", "columns": {
    "xs": [(cx + np.cos(angles)).tolist() for cx, _ in centres], "ys": [(cy + np.sin(angles)).tolist() for _, cy in centres]}}]}]
