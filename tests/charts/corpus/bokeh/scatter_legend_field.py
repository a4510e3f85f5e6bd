# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(2)
df = pd.DataFrame({"l": rng.normal(size=30), "w": rng.normal(size=30), "species": rng.choice(["setosa", "virginica"], 30)})

# %% program
from bokeh.plotting import figure, show
from bokeh.transform import factor_cmap

p = figure(title="Iris")
p.scatter("l", "w", source=df, legend_field="species", size=8, fill_alpha=0.4,
          color=factor_cmap("species", "Category10_3", ["setosa", "virginica"]))
show(p)

# %% expected
expected = [{"kind": "scatter", "title": "Iris", "series": [
    {"kind": "scatter", "label": s, "columns": {"x": g.l, "y": g.w}} for s, g in df.groupby("species", sort=False)]}]
