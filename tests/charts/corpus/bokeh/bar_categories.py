# %% data
fruits = ["Apples", "Pears", "Plums"]
counts = [5, 3, 4]

# %% program
from bokeh.plotting import figure, output_file, show

output_file("bars.html")
p = figure(x_range=fruits, height=350, title="Fruit Counts", toolbar_location=None)
p.vbar(x=fruits, top=counts, width=0.9)
p.y_range.start = 0
show(p)

# %% expected
expected = [{"kind": "bar", "title": "Fruit Counts", "orientation": "vertical", "stacking": None,
             "x": {"scale": "category", "ticks": fruits}, "series": [{"kind": "bar", "columns": {"x": fruits, "y": counts}}]}]
