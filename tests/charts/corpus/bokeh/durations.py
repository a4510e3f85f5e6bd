# %% data
import pandas as pd
names = ["fast", "slow"]
spent = pd.to_timedelta([90, 90000], unit="s")

# %% program
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, show

source = ColumnDataSource(dict(name=names, spent=spent))
p = figure(
    x_range=names,
    title="Time spent",
    height=300,
    y_axis_type="timedelta",
    y_axis_label="Time",
)
p.vbar(x="name", top="spent", width=0.7, source=source, color="teal")
p.y_range.start = 0
p.xgrid.grid_line_color = None
show(p)

# %% expected
# Durations are seconds, and the axis says so.
expected = [{"kind": "bar", "title": "Time spent", "y": {"label": "Time", "scale": "duration"}, "series": [
    {"kind": "bar", "columns": {"x": names, "y": [90, 90000]}}]}]
