# %% data
x = [1, 2, 3, 4]
y = [4, 2, 5, 3]

# %% program
from bokeh.models import TabPanel, Tabs
from bokeh.plotting import figure, show

p1 = figure(width=300, height=300)
p1.scatter(x, y, size=20, color="navy", alpha=0.5)
tab1 = TabPanel(child=p1, title="circle")

p2 = figure(width=300, height=300, title="As a line")
p2.line(x, y, line_width=3, color="navy", alpha=0.5)
tab2 = TabPanel(child=p2, title="line")

show(Tabs(tabs=[tab1, tab2]))

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "title": "circle", "series": [{"columns": {"x": x, "y": y}}]},
    {"kind": "line", "title": "As a line", "series": [{"columns": {"x": x, "y": y}}]}]}]
