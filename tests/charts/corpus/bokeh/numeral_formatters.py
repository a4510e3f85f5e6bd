# %% data
months = ["Jan", "Feb", "Mar"]
sales = [120000, 95000, 143500]
share = [0.25, 0.31, 0.28]

# %% program
from bokeh.layouts import row
from bokeh.models import NumeralTickFormatter, PrintfTickFormatter
from bokeh.plotting import figure, show

left = figure(x_range=months, title="Sales", height=300, width=350)
left.vbar(x=months, top=sales, width=0.7)
left.yaxis.formatter = NumeralTickFormatter(format="$0,0")
right = figure(x_range=months, title="Share", height=300, width=350, y_range=(0, 0.5))
right.line(months, share, line_width=3)
right.yaxis.formatter = NumeralTickFormatter(format="0%")
right.yaxis.axis_label = "Share"
show(row(left, right))

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "title": "Sales", "row": 0, "column": 0, "series": [{"columns": {"x": months, "y": sales}}]},
    {"kind": "line", "title": "Share", "row": 0, "column": 1, "y": {"label": "Share", "limits": [0, 0.5]},
     "series": [{"columns": {"x": months, "y": share}}]}]}]
