# %% data
a, b = [1, 4, 9], [3, 2, 1]

# %% program
from bokeh.layouts import column, row
from bokeh.plotting import figure

p = figure(title="one")
p.line([1, 2, 3], a)
q = figure(title="two")
q.vbar([1, 2, 3], top=b, width=0.5)
column(row(p, q))

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "title": "one", "row": 0, "column": 0, "series": [{"columns": {"x": [1, 2, 3], "y": a}}]},
    {"kind": "bar", "title": "two", "row": 0, "column": 1, "series": [{"columns": {"x": [1, 2, 3], "y": b}}]}]}]
