# %% data
sizes = [1, 10, 100]
times = [0.2, 1.9, 21.0]

# %% program
from bokeh.models import CustomJSTickFormatter
from bokeh.plotting import figure, show

p = figure(title="Cost", x_axis_type="log", height=300)
p.line(sizes, times, line_width=2)
p.scatter(sizes, times, size=8)
p.xaxis.formatter = CustomJSTickFormatter(
    code="""
    const names = {1: 'tiny', 10: 'small', 100: 'large'}
    return names[tick] ?? ''
"""
)
p.xaxis.axis_label = "Size"
p.yaxis.axis_label = "Seconds"
show(p)

# %% expected
# What a program of JavaScript writes is not known.
expected = [{"kind": "line", "x": {"label": "Size", "scale": "log"}, "unread": ["JavaScript"], "series": [
    {"kind": "line", "columns": {"x": sizes, "y": times}}, {"kind": "scatter", "columns": {"x": sizes, "y": times}}]}]
