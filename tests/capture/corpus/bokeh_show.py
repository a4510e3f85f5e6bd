# expect: @show
from bokeh.plotting import figure, show
p = figure()
p.line([1, 2], [3, 4])
show(p)
import os
assert os.listdir() == []
