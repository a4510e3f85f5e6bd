# %% data
import pandas as pd
s = pd.Series([1.0, 4.0, 2.5, 3.0], index=pd.to_datetime(["2024-01-01 08:00", "2024-01-03 09:30", "2024-02-11 00:00", "2024-02-12 23:59"]))
# %% program
import matplotlib.pyplot as plt
s.plot(style="o-")
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"scale": "datetime"}, "series": [{"kind": "line", "columns": {"x": [t.isoformat() for t in s.index], "y": s.tolist()}}]}]
