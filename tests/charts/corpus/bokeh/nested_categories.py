# %% data
factors = [("Q1", "jan"), ("Q1", "feb"), ("Q2", "apr")]
values = [10, 12, 16]

# %% program
from bokeh.models import FactorRange
from bokeh.plotting import figure, show

p = figure(x_range=FactorRange(*factors), height=250)
p.vbar(x=factors, top=values, width=0.9, alpha=0.5)
show(p)

# %% expected
names = ["Q1 / jan", "Q1 / feb", "Q2 / apr"]
expected = [{"kind": "bar", "x": {"scale": "category", "ticks": names}, "series": [{"columns": {"x": names, "y": values}}]}]
