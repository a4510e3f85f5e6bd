# expect: @show
from bokeh.plotting import figure, output_file, save, show
output_file('o.html')
p = figure()
p.line([1, 2], [3, 4])
show(p)
save(p)
import os
assert os.listdir() == ['o.html']
