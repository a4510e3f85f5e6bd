# expect: @show, @show
from bokeh.layouts import gridplot, row
from bokeh.plotting import figure, show
a, b = figure(title='a'), figure(title='b')
a.line([1, 2], [3, 4])
b.line([1, 2], [3, 4])
show(row(a, b))
show(gridplot([[a], [b]]))
