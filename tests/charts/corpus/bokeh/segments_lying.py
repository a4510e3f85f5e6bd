# %% data
people = ["Ann", "Bob", "Cy"]
before, after = [60, 75, 50], [72, 70, 65]

# %% program
from bokeh.plotting import figure, show

p = figure(y_range=people, title="Before and after", height=250, x_range=(40, 80))
p.segment(x0=after, y0=people, x1=before, y1=people, line_width=3, line_color="grey")
p.scatter(x=before, y=people, size=12, fill_color="orange", legend_label="before")
p.scatter(x=after, y=people, size=12, fill_color="green", legend_label="after")
p.xaxis.axis_label = "Score"
p.legend.location = "bottom_right"
show(p)

# %% expected
expected = [{"y": {"scale": "category", "ticks": people}, "x": {"label": "Score", "limits": [40, 80]}, "series": [
    {"kind": "errorbar", "columns": {"y": people, "x_low": [min(p) for p in zip(before, after)], "x_high": [max(p) for p in zip(before, after)]}},
    {"kind": "scatter", "label": "before", "columns": {"x": before, "y": people}},
    {"kind": "scatter", "label": "after", "columns": {"x": after, "y": people}}]}]
