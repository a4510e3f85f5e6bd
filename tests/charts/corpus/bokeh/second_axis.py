# %% data
x = [1, 2, 3]
left = [10, 20, 30]
right = [0.1, 0.2, 0.4]

# %% program
from bokeh.models import LinearAxis, Range1d
from bokeh.plotting import figure, show

p = figure(y_range=(0, 40), y_axis_label="count")
p.line(x, left, legend_label="left")
p.extra_y_ranges = {"rate": Range1d(start=0, end=1)}
p.add_layout(LinearAxis(y_range_name="rate", axis_label="rate"), "right")
p.scatter(x, right, y_range_name="rate", color="red", legend_label="right")
show(p)

# %% expected
expected = [{"kind": "line", "y": {"label": "count", "limits": [0, 40]}, "y2": {"label": "rate", "limits": [0, 1]}, "series": [
    {"kind": "line", "label": "left", "axis": "y", "columns": {"x": x, "y": left}},
    {"kind": "scatter", "label": "right", "axis": "y2", "columns": {"x": x, "y": right}}]}]
