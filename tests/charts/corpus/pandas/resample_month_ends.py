# %% data
import pandas as pd
import numpy as np
days = pd.Series(np.arange(91.0), index=pd.date_range("2024-01-01", periods=91))
# %% program
import matplotlib.pyplot as plt
monthly = days.resample("ME").sum()
ax = monthly.plot(marker="o", title="Monthly sums")
ax.set_ylabel("sum")
plt.tight_layout()
plt.savefig("monthly.png")
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Monthly sums", "y": {"label": "sum"}, "series": [{"kind": "line", "columns": {
    "x": ["2024-01-31", "2024-02-29", "2024-03-31"], "y": [float(sum(range(31))), float(sum(range(31, 60))), float(sum(range(60, 91)))]}}]}]
