# %% data
fruits = ["Apples", "Pears", "Plums"]
exports = {"2015": [2, 1, 4], "2016": [5, 3, 4]}
imports = {"2015": [-1, 0, -1], "2016": [-2, -1, -3]}

# %% program
from bokeh.models import ColumnDataSource
from bokeh.palettes import GnBu3, OrRd3
from bokeh.plotting import figure, show

years = ["2015", "2016"]
p = figure(y_range=fruits, height=350, x_range=(-16, 16), title="Fruit import/export", toolbar_location=None)
p.hbar_stack(years, y="fruits", height=0.9, color=GnBu3[:2], source=ColumnDataSource({"fruits": fruits, **exports}),
             legend_label=[f"{year} exports" for year in years])
p.hbar_stack(years, y="fruits", height=0.9, color=OrRd3[:2], source=ColumnDataSource({"fruits": fruits, **imports}),
             legend_label=[f"{year} imports" for year in years])
p.y_range.range_padding = 0.1
p.ygrid.grid_line_color = None
p.legend.location = "top_left"
show(p)

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "stacking": "stacked", "x": {"limits": [-16, 16]}, "series": [
    {"kind": "bar", "label": f"{y} {word}", "columns": {"y": fruits, "x": d[y]}}
    for word, d in (("exports", exports), ("imports", imports)) for y in ("2015", "2016")]}]
