# expect: @savefig
from bokeh.plotting import figure, save
p = figure()
p.line([1, 2], [3, 4])
save(p, 'b.html', resources='cdn', title='B')
