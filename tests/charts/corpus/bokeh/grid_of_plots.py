# %% data
x = list(range(6))
curves = {"up": x, "down": [5 - v for v in x], "square": [v * v for v in x]}

# %% program
from bokeh.layouts import gridplot
from bokeh.plotting import figure, show

plots = []
for name, values in curves.items():
    p = figure(width=250, height=250, title=name)
    if name == "square":
        p.vbar(x=x, top=values, width=0.5)
    else:
        p.line(x, values)
    p.background_fill_color = "#fafafa"
    plots.append(p)
grid = gridplot([[plots[0], None], [plots[1], plots[2]]], toolbar_location="right")
show(grid)

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": k, "title": n, "row": r, "column": c, "series": [{"columns": {"x": x, "y": curves[n]}}]}
    for n, k, r, c in (("up", "line", 0, 0), ("down", "line", 1, 0), ("square", "bar", 1, 1))]}]
