# %% data
import pandas as pd
df = pd.DataFrame({"p": [1, 2, 3], "q": [9, 8, 7]}, index=["a", "b", "c"])
# %% program
import matplotlib.pyplot as plt
df.plot(subplots=True, layout=(1, 2), figsize=(8, 3))
plt.show()
# %% expected
expected = [{"kind": "multi", "charts": [{"kind": "line", "row": 0, "column": i, "series": [
    {"kind": "line", "label": c, "columns": {"x": ["a", "b", "c"], "y": df[c].tolist()}}]} for i, c in enumerate(df)]}]
