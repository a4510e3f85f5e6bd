# %% data
codes = ["de", "fr", "it"]
gdp = [4.1, 2.8, 2.0]

# %% program
from bokeh.plotting import figure, show

p = figure(
    x_range=codes,
    title="GDP",
    height=300,
    tools="",
)
p.vbar(x=codes, top=gdp, width=0.9)
p.xaxis.major_label_overrides = {"de": "Germany", "fr": "France", "it": "Italy"}
p.xaxis.major_label_orientation = 0.7
p.yaxis.axis_label = "Trillion $"
p.y_range.start = 0
show(p)

# %% expected
names = ["Germany", "France", "Italy"]
expected = [{"kind": "bar", "x": {"scale": "category", "ticks": names}, "series": [{"columns": {"x": names, "y": gdp}}]}]
