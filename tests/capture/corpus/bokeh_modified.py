# expect: @show, @show
from bokeh.plotting import figure, show
p = figure()
p.line([1, 2], [3, 4])
show(p)
show(p)
p.scatter([1], [3])
show(p)
