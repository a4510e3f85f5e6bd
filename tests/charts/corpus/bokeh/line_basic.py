# %% data
x = [1, 2, 3, 4, 5]
y = [6, 7, 2, 4, 5]

# %% program
from bokeh.plotting import figure, show

p = figure(title="Simple line example", x_axis_label="x", y_axis_label="y")
p.line(x, y, legend_label="Temp.", line_width=2)
show(p)

# %% expected
expected = [{"kind": "line", "library": "bokeh", "title": "Simple line example", "x": {"label": "x", "scale": "linear"},
             "y": {"label": "y"}, "series": [{"kind": "line", "label": "Temp.", "color": "#1f77b4", "columns": {"x": x, "y": y}}]}]
