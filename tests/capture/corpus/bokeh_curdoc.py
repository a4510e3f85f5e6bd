# expect: @show
from bokeh.io import curdoc
from bokeh.plotting import figure
p = figure()
p.line([1, 2], [3, 4])
curdoc().add_root(p)
