# %% data
x = [1, 2, 3]
lines = {"cpu": [20, 40, 30], "memory": [50, 55, 60], "disk": [5, 5, 6]}

# %% program
from bokeh.palettes import Category10
from bokeh.plotting import figure, show

p = figure(title="Usage", x_axis_label="t", y_axis_label="%", height=300)
for (name, values), color in zip(lines.items(), Category10[3]):
    line = p.line(x, values, legend_label=name, color=color, line_width=2)
    if name == "disk":
        line.visible = False
p.legend.click_policy = "hide"
p.legend.title = "Resource"
p.legend.location = "right"
show(p)

# %% expected
expected = [{"kind": "line", "title": "Usage", "unread": ["disk"], "series": [
    {"kind": "line", "label": n, "columns": {"x": x, "y": lines[n]}} for n in ("cpu", "memory")]}]
