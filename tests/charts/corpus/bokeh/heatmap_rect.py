# %% data
import numpy as np
import pandas as pd
z = np.random.default_rng(4).integers(0, 9, (2, 3))
df = pd.DataFrame([(y, x, z[j, i]) for i, x in enumerate(["Jan", "Feb", "Mar"]) for j, y in enumerate(["2001", "2002"])], columns=["year", "month", "rate"])

# %% program
from bokeh.models import ColorBar, LinearColorMapper
from bokeh.plotting import figure, show

mapper = LinearColorMapper(palette="Viridis256", low=0, high=9)
p = figure(x_range=["Jan", "Feb", "Mar"], y_range=["2001", "2002"], title="Rates")
p.rect(x="month", y="year", width=1, height=1, source=df, fill_color={"field": "rate", "transform": mapper}, line_color=None)
p.add_layout(ColorBar(color_mapper=mapper), "right")
show(p)

# %% expected
expected = [{"kind": "heatmap", "title": "Rates", "series": [{"kind": "heatmap", "columns": {
    "x": ["Jan", "Feb", "Mar"], "y": ["2001", "2002"], "z": z}}]}]
