# %% data
import numpy as np
rng = np.random.default_rng(3)
data = {"x": rng.uniform(size=25), "y": rng.uniform(size=25), "r": rng.uniform(5, 20, 25), "heat": rng.normal(size=25)}

# %% program
from bokeh.plotting import figure, show
from bokeh.transform import linear_cmap

p = figure(x_axis_type="log")
p.scatter("x", "y", source=data, size="r", color=linear_cmap("heat", "Viridis256", -2, 2))
show(p)

# %% expected
expected = [{"kind": "scatter", "x": {"scale": "log"}, "series": [{"columns": {
    "x": data["x"], "y": data["y"], "size": data["r"], "value": data["heat"]}}]}]
