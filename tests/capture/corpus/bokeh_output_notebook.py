# expect: @show
from bokeh.io import output_notebook
from bokeh.plotting import figure, show
output_notebook()
p = figure()
p.line([1, 2], [3, 4])
show(p)
p
