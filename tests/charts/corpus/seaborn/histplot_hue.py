# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
df = pd.DataFrame({"length": np.r_[rng.normal(40, 3, 80), rng.normal(48, 4, 60)], "species": ["Adelie"] * 80 + ["Gentoo"] * 60})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.set_theme(style="whitegrid")
plt.figure(figsize=(8, 5))
sns.histplot(data=df, x="length", hue="species", bins=12)
plt.title("Flippers")
plt.show()
# %% expected
e = np.histogram_bin_edges(df.length, 12)
expected = [{"kind": "histogram", "library": "seaborn", "title": "Flippers", "orientation": "vertical", "stacking": "overlaid", "x": {"label": "length"}, "y": {"label": "Count"}, "series": [
    {"kind": "histogram", "label": s, "columns": {"start": e[:-1], "end": e[1:], "count": np.histogram(df.length[df.species == s], e)[0]}} for s in ("Adelie", "Gentoo")]}]
