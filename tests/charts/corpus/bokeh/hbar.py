# %% data
names = ["a", "b", "c"]
values = [1.5, 2.5, 0.5]

# %% program
from bokeh.plotting import figure, save

p = figure(y_range=names, x_axis_label="score")
p.hbar(y=names, right=values, height=0.6, color="teal")
save(p, "h.html", title="Scores", resources="cdn")

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "score"}, "y": {"scale": "category"},
             "series": [{"kind": "bar", "color": "#008080", "columns": {"x": values, "y": names}}]}]
