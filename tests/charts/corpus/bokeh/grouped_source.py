# %% data
import pandas as pd
df = pd.DataFrame({"cyl": ["4", "4", "6", "8", "8"], "mpg": [30.0, 26.0, 20.0, 14.0, 16.0]})

# %% program
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, show
from bokeh.transform import factor_cmap

group = df.groupby("cyl")
source = ColumnDataSource(group)
cmap = factor_cmap("cyl", palette=["#a6cee3", "#1f78b4", "#b2df8a"], factors=["4", "6", "8"])
p = figure(height=350, x_range=group, title="MPG by # cylinders", toolbar_location=None, tools="")
p.vbar(x="cyl", top="mpg_mean", width=1, line_color=cmap, fill_color=cmap, source=source)
p.y_range.start = 0
p.xaxis.axis_label = "Cylinders"
p.yaxis.axis_label = "Mean MPG"
show(p)

# %% expected
means = df.groupby("cyl").mpg.mean()
expected = [{"kind": "bar", "x": {"label": "Cylinders", "ticks": ["4", "6", "8"]}, "y": {"label": "Mean MPG"},
             "series": [{"kind": "bar", "columns": {"x": ["4", "6", "8"], "y": means}}]}]
