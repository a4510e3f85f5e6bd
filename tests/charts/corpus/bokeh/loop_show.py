# %% data
runs = {"r1": [1, 2], "r2": [3, 5]}

# %% program
from bokeh.plotting import figure, show

def draw(name, values):
    p = figure(title=name)
    p.line([0, 1], values)
    show(p)

for name, values in runs.items():
    draw(name, values)

# %% expected
expected = [{"kind": "line", "title": n, "series": [{"columns": {"x": [0, 1], "y": v}}]} for n, v in runs.items()]
