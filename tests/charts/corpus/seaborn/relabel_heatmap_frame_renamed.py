# %% data
import pandas as pd
frame = pd.DataFrame([[1.0, 0.3, -0.2], [0.3, 1.0, 0.5], [-0.2, 0.5, 1.0]], index=["h", "w", "a"], columns=["h", "w", "a"])
full = ["Height", "Weight", "Age"]
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(6, 5))
sns.heatmap(frame, annot=True, fmt=".2f", cmap="coolwarm", vmin=-1, vmax=1, center=0, ax=ax)
ax.set_xticklabels(full, rotation=45, ha="right")
ax.set_yticklabels(full, rotation=0)
ax.set_title("Correlation matrix")
cbar = ax.collections[0].colorbar
cbar.set_label("Pearson r")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Correlation matrix", "x": {"scale": "category", "ticks": full}, "y": {"scale": "category", "ticks": full}, "z": {"label": "Pearson r"},
    "series": [{"kind": "heatmap", "columns": {"x": full, "y": full, "z": frame.to_numpy()}}]}]
