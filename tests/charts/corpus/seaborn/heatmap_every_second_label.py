# %% data
import numpy as np
import pandas as pd
hours = [f"{h:02d}h" for h in range(8)]
frame = pd.DataFrame(np.arange(24).reshape(3, 8) % 7, index=["Fri", "Sat", "Sun"], columns=hours)
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

plt.figure(figsize=(10, 3))
ax = sns.heatmap(frame, cmap="rocket_r", xticklabels=2, cbar_kws={"label": "Trips"})
ax.set_xlabel("Hour")
ax.set_ylabel("Day")
ax.set_title("Trips by hour")
plt.yticks(rotation=0)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Trips by hour", "x": {"label": "Hour", "scale": "category", "ticks": hours}, "y": {"label": "Day", "scale": "category", "ticks": ["Fri", "Sat", "Sun"]},
    "series": [{"kind": "heatmap", "columns": {"x": hours, "y": ["Fri", "Sat", "Sun"], "z": frame.to_numpy()}}]}]
