# %% data
import math
import pandas as pd
df = pd.DataFrame({"country": ["US", "UK", "Japan"], "value": [157, 93, 89]})

# %% program
from math import pi
from bokeh.palettes import Category20c
from bokeh.plotting import figure, show
from bokeh.transform import cumsum

df["angle"] = df["value"] / df["value"].sum() * 2 * pi
df["color"] = Category20c[len(df)]
p = figure(height=350, title="Pie Chart", toolbar_location=None, tools="hover")
p.wedge(x=0, y=1, radius=0.4, start_angle=cumsum("angle", include_zero=True), end_angle=cumsum("angle"),
        line_color="white", fill_color="color", legend_field="country", source=df)
p.axis.visible = False
show(p)

# %% expected
expected = [{"kind": "pie", "title": "Pie Chart", "series": [{"kind": "pie", "columns": {"label": df.country, "value": df.value}}]}]
