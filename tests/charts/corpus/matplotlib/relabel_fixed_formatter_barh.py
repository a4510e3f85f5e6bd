# %% data
import numpy as np
teams = ["Platform", "Data", "Mobile", "Web", "QA"]
hours = np.array([310.5, 220.0, 180.25, 260.0, 95.5])
# %% program
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedFormatter, FixedLocator

order = np.argsort(hours)
fig, ax = plt.subplots(figsize=(8, 4))
ax.barh(np.arange(len(teams)), hours[order], height=0.7, color="slategray")
ax.yaxis.set_major_locator(FixedLocator(np.arange(len(teams))))
ax.yaxis.set_major_formatter(FixedFormatter([teams[i] for i in order]))
ax.set_xlabel("Hours")
ax.set_title("Hours by team")
ax.axvline(hours.mean(), color="red", linestyle=":", label="Mean")
ax.legend()
plt.tight_layout()
plt.show()
# %% expected
pairs = sorted(zip(hours.tolist(), teams))
expected = [{"kind": "bar", "orientation": "horizontal", "title": "Hours by team", "x": {"label": "Hours", "scale": "linear"},
    "y": {"scale": "category", "ticks": [t for _, t in pairs]},
    "series": [{"kind": "bar", "columns": {"x": [h for h, _ in pairs], "y": [t for _, t in pairs]}},
               {"kind": "rule", "label": "Mean", "columns": {"x": [hours.mean()]}}]}]
