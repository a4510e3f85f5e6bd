# %% data
import numpy as np
names = ["a", "b", "c"]
data = {"g": names, "m": [1.0, 2.0, 3.0], "low": [0.5, 1.5, 2.0], "high": [1.5, 2.75, 3.5]}

# %% program
from bokeh.models import ColumnDataSource, Label, Span, Whisker
from bokeh.plotting import figure, show

source = ColumnDataSource(data)
p = figure(x_range=names)
p.scatter("g", "m", source=source, size=10)
p.add_layout(Whisker(base="g", upper="high", lower="low", source=source))
p.add_layout(Span(location=2.5, dimension="width", line_color="red"))
p.add_layout(Label(x=1, y=2.5, text="limit"))
show(p)

# %% expected
expected = [{"kind": "scatter", "annotations": [{"text": "limit"}], "series": [
    {"kind": "scatter", "columns": {"x": names, "y": data["m"]}},
    {"kind": "errorbar", "columns": {"x": names, "y_low": data["low"], "y_high": data["high"]}},
    {"kind": "rule", "color": "#ff0000", "columns": {"y": [2.5]}}]}]
