# %% data
fruits = ["Apples", "Pears"]
data = {"fruits": fruits, "y1": [2, 1], "y2": [5, 3]}

# %% program
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, show
from bokeh.transform import dodge

source = ColumnDataSource(data=data)
p = figure(x_range=fruits, y_range=(0, 10), title="Grouped")
p.vbar(x=dodge("fruits", -0.2, range=p.x_range), top="y1", source=source, width=0.3, legend_label="2015")
p.vbar(x=dodge("fruits", 0.2, range=p.x_range), top="y2", source=source, width=0.3, legend_label="2016")
show(p)

# %% expected
expected = [{"kind": "bar", "stacking": "grouped", "y": {"limits": [0, 10]}, "series": [
    {"label": "2015", "columns": {"x": fruits, "y": [2, 1]}}, {"label": "2016", "columns": {"x": fruits, "y": [5, 3]}}]}]
