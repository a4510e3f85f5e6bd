# %% data
shares = {"Chrome": 64.0, "Safari": 19.0, "Edge": 5.0, "Other": 12.0}

# %% program
from math import pi
import pandas as pd
from bokeh.palettes import Category20c
from bokeh.plotting import figure, show
from bokeh.transform import cumsum

data = pd.Series(shares).reset_index(name="share").rename(columns={"index": "browser"})
data["angle"] = data["share"] / data["share"].sum() * 2 * pi
data["color"] = Category20c[len(shares)]
p = figure(height=350, title="Browsers", toolbar_location=None, tools="hover",
           tooltips="@browser: @share", x_range=(-0.5, 1.0))
p.annular_wedge(x=0, y=1, inner_radius=0.2, outer_radius=0.4,
                start_angle=cumsum("angle", include_zero=True), end_angle=cumsum("angle"),
                line_color="white", fill_color="color", legend_field="browser", source=data)
p.axis.axis_label = None
p.axis.visible = False
p.grid.grid_line_color = None
show(p)

# %% expected
expected = [{"kind": "pie", "title": "Browsers", "series": [{"kind": "pie", "columns": {
    "label": list(shares), "value": list(shares.values())}}]}]
