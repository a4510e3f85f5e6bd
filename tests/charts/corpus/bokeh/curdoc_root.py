# %% data
x = [0, 1, 2]

# %% program
from bokeh.io import curdoc
from bokeh.plotting import figure

p = figure(title="app")
p.line(x, [v * v for v in x])
curdoc().add_root(p)

# %% expected
expected = [{"kind": "line", "title": "app", "series": [{"columns": {"x": x, "y": [0, 1, 4]}}]}]
