# %% data
depth = [0, 50, 100]
oxygen, nitrate = [8.0, 5.5, 3.2], [2, 18, 30]

# %% program
from bokeh.models import LinearAxis, Range1d
from bokeh.plotting import figure, show

p = figure(title="Water", y_range=(120, 0), x_range=(0, 10))
p.xaxis.axis_label = "Oxygen (mg/l)"
p.yaxis.axis_label = "Depth (m)"
p.line(oxygen, depth, legend_label="Oxygen")
p.extra_x_ranges = {"nitrate": Range1d(0, 40)}
p.add_layout(LinearAxis(x_range_name="nitrate", axis_label="Nitrate (µM)"), "above")
p.line(nitrate, depth, x_range_name="nitrate", color="orange", legend_label="Nitrate")
show(p)

# %% expected
expected = [{"kind": "line", "x": {"label": "Oxygen (mg/l)", "limits": [0, 10]}, "y": {"label": "Depth (m)", "limits": [120, 0]}, "y2": None,
             "more_axes": {"x2": {"label": "Nitrate (µM)", "limits": [0, 40]}}, "series": [
    {"kind": "line", "label": "Oxygen", "columns": {"x": oxygen, "y": depth}},
    {"kind": "line", "label": "Nitrate", "axis": "x2", "columns": {"x": nitrate, "y": depth}}]}]
