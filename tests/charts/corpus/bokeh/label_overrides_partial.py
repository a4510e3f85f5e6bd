# %% data
import numpy as np
x = np.linspace(0, 10, 21)
y = x ** 2

# %% program
from bokeh.models import FixedTicker
from bokeh.plotting import figure, show

p = figure(title="A process", width=600, height=300)
p.line(x, y, line_width=2, legend_label="progress")
p.xaxis.ticker = FixedTicker(ticks=[0, 5, 10])
p.xaxis.major_label_overrides = {0: "start", 5: "half", 10: "end"}
p.xaxis.axis_label = "Phase"
p.yaxis.axis_label = "Progress"
p.legend.location = "top_left"
show(p)

# %% expected
expected = [{"kind": "line", "x": {"label": "Phase", "scale": "linear", "ticks": [0, 5, 10], "tick_labels": ["start", "half", "end"]},
             "series": [{"kind": "line", "label": "progress", "columns": {"x": x, "y": y}}]}]
