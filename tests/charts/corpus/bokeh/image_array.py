# %% data
import numpy as np
d = np.add.outer(np.arange(4) * 1.5, np.arange(5))

# %% program
from bokeh.plotting import figure, show

p = figure(x_range=(0, 10), y_range=(0, 10))
p.image(image=[d], x=0, y=0, dw=10, dh=10, palette="Spectral11")
show(p)

# %% expected
expected = [{"kind": "image", "series": [{"kind": "image", "columns": {"z": d}}]}]
