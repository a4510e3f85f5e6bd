# %% data
x = [1, 2, 3]
y = [4, 5, 6]

# %% program
from bokeh.models import ColumnDataSource, CustomJSTransform
from bokeh.plotting import figure, show
from bokeh.transform import transform

double = CustomJSTransform(
    func="return 2 * x",
    v_func="return xs.map((x) => 2 * x)",
)
source = ColumnDataSource(dict(x=x, y=y))
p = figure(title="Doubled", height=300)
p.line("x", "y", source=source, color="grey")
p.scatter("x", transform("y", double), source=source, size=8, color="firebrick")
p.xaxis.axis_label = "x"
p.yaxis.axis_label = "y and twice y"
show(p)

# %% expected
# Where the points are only JavaScript knows; they are not at y.
expected = [{"kind": "line", "unread": ["JavaScript"], "series": [
    {"kind": "line", "columns": {"x": x, "y": y}}, {"kind": "other", "columns": {"x": x}}]}]
