# expect: @show
from bokeh.plotting import figure
p = figure()
p.line([1, 2], [3, 4])
p
