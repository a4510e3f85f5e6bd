# %% data
import pandas as pd
df = pd.DataFrame({"size": ["s", "s", "s", "l", "l", "l", "l", "l"], "buys": ["y", "n", "n", "y", "y", "y", "n", "n"]})
# %% program
import matplotlib.pyplot as plt
from statsmodels.graphics.mosaicplot import mosaic

fig, ax = plt.subplots(figsize=(6, 5))
mosaic(df, ["size", "buys"], gap=0, ax=ax, title="Purchases by size", axes_label=True)
ax.set_xlabel("Size")
ax.set_ylabel("Buys")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Purchases by size", "x": {"label": "Size", "tick_labels": ["s", "l"]}, "series": [{"kind": "other", "columns": {
    "x": [0, 0, 0.375, 0.375], "y": [0, 1 / 3, 0, 0.6], "width": [0.375, 0.375, 0.625, 0.625], "height": [1 / 3, 2 / 3, 0.6, 0.4]}}]}]
