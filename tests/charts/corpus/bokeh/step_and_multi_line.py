# %% data
xs = [[1, 2, 3], [1, 2, 3]]
ys = [[2, 4, 6], [5, 3, 1]]

# %% program
from bokeh.plotting import figure, show

p = figure()
p.multi_line(xs, ys, color=["red", "blue"])
show(p)
q = figure()
q.step([1, 2, 3], [4, 6, 5], mode="after")
show(q)

# %% expected
expected = [{"kind": "line", "series": [{"kind": "line", "columns": {"x": x, "y": y}} for x, y in zip(xs, ys)]},
            {"kind": "step", "series": [{"kind": "step", "columns": {"x": [1, 2, 3], "y": [4, 6, 5]}}]}]
