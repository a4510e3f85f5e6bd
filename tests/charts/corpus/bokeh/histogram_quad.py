# %% data
import numpy as np
values = np.random.default_rng(1).normal(0, 0.5, 1000)
hist, edges = np.histogram(values, density=True, bins=20)

# %% program
from bokeh.plotting import figure, show

p = figure(title="Normal", background_fill_color="#fafafa")
p.quad(top=hist, bottom=0, left=edges[:-1], right=edges[1:], fill_color="skyblue", line_color="white")
p.xaxis.axis_label = "x"
p.yaxis.axis_label = "Pr(x)"
show(p)

# %% expected
expected = [{"kind": "histogram", "orientation": "vertical", "x": {"label": "x"}, "y": {"label": "Pr(x)"},
             "series": [{"kind": "histogram", "color": "#87ceeb", "columns": {"start": edges[:-1], "end": edges[1:], "count": hist}}]}]
