# %% data
import pandas as pd
df = pd.DataFrame({"in": [5, 6, 4, 8], "out": [2, 3, 5, 1]}, index=pd.date_range("2024-03-01", periods=4))
# %% program
import matplotlib.pyplot as plt
df.plot(kind="area", stacked=False)
plt.show()
# %% expected
x = [d.date().isoformat() for d in df.index]
expected = [{"kind": "area", "stacking": "overlaid", "x": {"scale": "datetime"}, "series": [{"kind": "area", "label": c, "columns": {"x": x, "y": df[c].tolist()}} for c in df]}]
