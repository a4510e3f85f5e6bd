# %% data
import numpy as np
import pandas as pd
frame = pd.DataFrame([[1.0, 9.0, 1.2], [8.0, 1.0, 8.5], [1.1, 8.8, 1.0]], index=["g1", "g2", "g3"], columns=["s1", "s2", "s3"])
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

grid = sns.clustermap(frame, method="average", cmap="vlag", figsize=(6, 6), annot=True, cbar_kws={"label": "Level"})
grid.ax_heatmap.set_xlabel("Sample")
grid.ax_heatmap.set_ylabel("Gene")
grid.figure.suptitle("Clustered expression", y=1.02)
plt.show()
# %% expected
from scipy.cluster.hierarchy import leaves_list, linkage
rows = leaves_list(linkage(frame.to_numpy(), "average")).tolist()
cols = leaves_list(linkage(frame.to_numpy().T, "average")).tolist()
expected = [{"kind": "heatmap", "library": "seaborn", "title": "Clustered expression", "x": {"label": "Sample", "scale": "category", "ticks": [frame.columns[c] for c in cols]}, "y": {"label": "Gene", "ticks": [frame.index[r] for r in rows]},
    "z": {"label": "Level"}, "unread": ["dendrogram", "dendrogram"],
    "series": [{"kind": "heatmap", "columns": {"x": [frame.columns[c] for c in cols], "y": [frame.index[r] for r in rows], "z": frame.to_numpy()[np.ix_(rows, cols)]}}]}]
