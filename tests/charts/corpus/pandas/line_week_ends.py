# %% data
import pandas as pd
s = pd.Series([4.0, 2.0, 7.5, 3.0], index=pd.date_range("2024-01-07", periods=4, freq="W"), name="visits")
# %% program
import matplotlib.pyplot as plt
s.plot(legend=True)
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"scale": "datetime"}, "series": [{"kind": "line", "label": "visits", "columns": {"x": ["2024-01-07", "2024-01-14", "2024-01-21", "2024-01-28"], "y": s.tolist()}}]}]
