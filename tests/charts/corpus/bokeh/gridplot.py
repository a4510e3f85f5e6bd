# %% data
x = list(range(11))
ys = {"up": x, "down": [10 - i for i in x], "abs": [abs(i - 5) for i in x]}

# %% program
from bokeh.layouts import gridplot
from bokeh.plotting import figure, show

figures = []
for name, y in ys.items():
    s = figure(title=name, width=250, height=250)
    s.scatter(x, y, size=12)
    figures.append(s)
show(gridplot([[figures[0], figures[1]], [None, figures[2]]]))

# %% expected
places = [(0, 0), (0, 1), (1, 1)]
expected = [{"kind": "multi", "charts": [{"kind": "scatter", "title": n, "row": r, "column": c, "series": [
    {"columns": {"x": x, "y": y}}]} for (r, c), (n, y) in zip(places, ys.items())]}]
