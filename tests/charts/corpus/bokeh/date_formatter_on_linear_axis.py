# %% data
import pandas as pd
days = pd.date_range("2024-06-01", periods=4)
value = [1.5, 2.5, 2.0, 3.0]

# %% program
from bokeh.models import DatetimeTickFormatter
from bokeh.plotting import figure, show

stamps = [day.timestamp() * 1000 for day in days]
p = figure(title="Measured", height=300)
p.line(stamps, value, line_width=2, color="navy")
p.xaxis.formatter = DatetimeTickFormatter(
    days="%d %b",
    months="%b %Y",
)
p.xaxis.axis_label = "Day"
p.yaxis.axis_label = "Value (V)"
show(p)

# %% expected
expected = [{"kind": "line", "x": {"label": "Day", "scale": "datetime"}, "series": [
    {"kind": "line", "columns": {"x": days.strftime("%Y-%m-%d").tolist(), "y": value}}]}]
