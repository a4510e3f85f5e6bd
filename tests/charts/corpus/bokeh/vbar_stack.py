# %% data
years = ["2015", "2016", "2017"]
data = {"fruits": ["Apples", "Pears"], "2015": [2, 1], "2016": [5, 3], "2017": [3, 2]}

# %% program
from bokeh.plotting import figure, show

p = figure(x_range=data["fruits"], title="By year")
p.vbar_stack(years, x="fruits", width=0.9, color=["#c9d9d3", "#718dbf", "#e84d60"], source=data, legend_label=years)
show(p)

# %% expected
expected = [{"kind": "bar", "stacking": "stacked", "series": [
    {"label": "2015", "color": "#c9d9d3", "columns": {"x": data["fruits"], "y": [2, 1]}},
    {"label": "2016", "columns": {"x": data["fruits"], "y": [5, 3], "base": [2, 1]}},
    {"label": "2017", "columns": {"x": data["fruits"], "y": [3, 2], "base": [7, 4]}}]}]
