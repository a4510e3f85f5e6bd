# %% data
names = ["A", "B", "C"]
xs = [[0, 1, 1, 0], [1, 2, 2, 1], [0, 2, 1]]
ys = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 2]]
rates = [4.5, 7.1, 5.6]

# %% program
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.palettes import Viridis6
from bokeh.plotting import figure, show

mapper = LinearColorMapper(palette=Viridis6, low=4, high=8)
source = ColumnDataSource(dict(x=xs, y=ys, name=names, rate=rates))
p = figure(title="Unemployment", x_axis_location=None, y_axis_location=None,
           tooltips=[("Name", "@name"), ("Rate", "@rate%")])
p.grid.grid_line_color = None
p.patches("x", "y", source=source, fill_color={"field": "rate", "transform": mapper},
          fill_alpha=0.7, line_color="white", line_width=0.5)
show(p)

# %% expected
expected = [{"kind": "other", "title": "Unemployment", "series": [{"kind": "other", "columns": {"xs": xs, "ys": ys, "value": rates}}]}]
