# %% data
import pandas as pd
df = pd.DataFrame({"t": [0, 1, 2, 3], "a": [1, 2, 3, 2], "b": [2, 2, 1, 4], "c": [1, 1, 1, 1]})

# %% program
from bokeh.layouts import column
from bokeh.models import ColumnDataSource
from bokeh.palettes import tol
from bokeh.plotting import figure, show

source = ColumnDataSource(df)
names = ["a", "b", "c"]
stack = figure(title="Stack", height=250)
stack.varea_stack(stackers=names, x="t", color=tol["Sunset"][3], legend_label=names, source=source)
stack.legend.orientation = "horizontal"
log = figure(title="Log", y_axis_type="log", y_range=(1, 1000), height=250)
log.line([1, 2, 3], [1, 10, 100], line_dash="dashed")
log.ray(x=[1], y=[1], length=0, angle=0.5)
show(column(stack, log))

# %% expected
base = [0 * df.a, df.a, df.a + df.b]
expected = [{"kind": "multi", "charts": [
    {"kind": "area", "title": "Stack", "stacking": "stacked", "series": [{"kind": "area", "label": n, "columns": {"x": df.t, "y": df[n]}} for n in "abc"]},
    {"kind": "line", "title": "Log", "y": {"scale": "log", "limits": [1, 1000]}, "series": [
        {"kind": "line", "columns": {"x": [1, 2, 3], "y": [1, 10, 100]}}, {"kind": "other"}]}]}]
