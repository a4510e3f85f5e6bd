# expect: @show, @show
from bokeh.plotting import figure, show
def draw(n):
    p = figure(title=str(n))
    p.scatter([n], [n])
    return p
display(draw(1))
show(draw(2))
