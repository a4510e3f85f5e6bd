# %% data
import pandas as pd
s = pd.Series([3, 5, 2], index=["x", "y", "z"], name="share")
# %% program
import matplotlib.pyplot as plt
s.plot.pie(autopct="%.0f%%", figsize=(5, 5))
plt.show()
# %% expected
expected = [{"kind": "pie", "library": "pandas", "series": [{"kind": "pie", "columns": {"label": ["x", "y", "z"], "value": [3, 5, 2]}}]}]
