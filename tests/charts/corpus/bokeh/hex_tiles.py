# %% data
q = [0, 0, 0, -1, -1, 1, 1]
r = [0, -1, 1, 0, 1, -1, 0]
counts = [9, 4, 3, 2, 2, 1, 1]

# %% program
from bokeh.models import ColumnDataSource
from bokeh.palettes import Viridis256
from bokeh.plotting import figure, show
from bokeh.transform import linear_cmap

source = ColumnDataSource(dict(q=q, r=r, counts=counts))
p = figure(width=400, height=400, toolbar_location=None, match_aspect=True, title="Tiles")
p.grid.visible = False
p.hex_tile(
    q="q",
    r="r",
    size=1,
    line_color=None,
    source=source,
    fill_color=linear_cmap("counts", Viridis256, 0, max(counts)),
)
show(p)

# %% expected
import math
expected = [{"kind": "other", "title": "Tiles", "series": [{"kind": "other", "columns": {
    "x": [math.sqrt(3) * (a + b / 2) for a, b in zip(q, r)], "y": [-1.5 * b for b in r], "value": counts}}]}]
