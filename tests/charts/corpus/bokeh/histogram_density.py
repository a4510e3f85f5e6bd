# %% data
import numpy as np
rng = np.random.default_rng(371)
values = rng.normal(0, 1, 200)
grid = np.linspace(-3, 3, 25)
density = np.exp(-grid ** 2 / 2) / np.sqrt(2 * np.pi)

# %% program
from bokeh.plotting import figure, show

bins = np.linspace(-3, 3, 13)
hist, edges = np.histogram(values, density=True, bins=bins)
p = figure(width=670, height=400, toolbar_location=None, title="Normal distribution")
p.quad(top=hist, bottom=0, left=edges[:-1], right=edges[1:], fill_color="skyblue", line_color="white",
       legend_label="200 samples")
p.line(grid, density, line_width=2, line_color="navy", legend_label="Density")
p.y_range.start = 0
p.xaxis.axis_label = "x"
p.yaxis.axis_label = "PDF(x)"
show(p)

# %% expected
edges = [-3 + 0.5 * i for i in range(13)]
inside = [v for v in values if -3 <= v <= 3]
counts = [sum(a <= v < b for v in inside) / len(inside) / 0.5 for a, b in zip(edges, edges[1:])]
expected = [{"kind": "histogram", "y": {"label": "PDF(x)"}, "series": [
    {"kind": "histogram", "label": "200 samples", "columns": {"start": edges[:-1], "end": edges[1:], "count": counts}},
    {"kind": "line", "label": "Density", "columns": {"x": grid, "y": density}}]}]
