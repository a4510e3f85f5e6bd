# %% data
fruits, years = ["Apples", "Pears", "Figs"], ["2015", "2016"]
data = {"fruits": fruits, "2015": [2, 1, 4], "2016": [5, 3, 3]}

# %% program
from bokeh.models import ColumnDataSource, FactorRange
from bokeh.palettes import Spectral3
from bokeh.plotting import figure, show
from bokeh.transform import factor_cmap

x = [(fruit, year) for fruit in fruits for year in years]
counts = sum(zip(data["2015"], data["2016"]), ())
source = ColumnDataSource(data=dict(x=x, counts=counts))
p = figure(x_range=FactorRange(*x), height=350, title="Fruit counts by year", toolbar_location=None, tools="")
p.vbar(x="x", top="counts", width=0.9, source=source, line_color="white",
       fill_color=factor_cmap("x", palette=Spectral3, factors=years, start=1, end=2))
p.y_range.start = 0
p.x_range.range_padding = 0.1
p.xaxis.major_label_orientation = 1
show(p)

# %% expected
names = [f"{f} / {y}" for f in fruits for y in years]
values = [data[y][i] for i in range(3) for y in years]
expected = [{"kind": "bar", "title": "Fruit counts by year", "x": {"scale": "category", "ticks": names},
             "series": [{"kind": "bar", "columns": {"x": names, "y": values}}]}]
