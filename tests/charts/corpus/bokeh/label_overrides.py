# %% data
counts = [549, 342]
names = {0: "Died", 1: "Survived"}

# %% program
from bokeh.plotting import figure, show

p = figure(
    title="Passengers",
    height=300,
    width=400,
    toolbar_location=None,
    x_axis_label="Outcome",
    y_axis_label="Passengers",
)
p.vbar(x=[0, 1], top=counts, width=0.8, color="steelblue")
p.xaxis.ticker = [0, 1]
p.xaxis.major_label_overrides = names
p.y_range.start = 0
p.xgrid.grid_line_color = None
show(p)

# %% expected
shown = [names[k] for k in (0, 1)]
expected = [{"kind": "bar", "title": "Passengers", "x": {"label": "Outcome", "scale": "category", "ticks": shown},
             "series": [{"kind": "bar", "columns": {"x": shown, "y": counts}}]}]
