# %% data
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3], "b": [2.0, 4.0, 6.5], "c": [9, 1, 4]})
# %% program
import matplotlib.pyplot as plt
corr = df.corr()
plt.matshow(corr, cmap="coolwarm", vmin=-1, vmax=1)
plt.xticks(range(3), corr.columns)
plt.yticks(range(3), corr.columns)
plt.colorbar()
plt.title("Correlation")
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Correlation", "series": [{"kind": "heatmap", "columns": {"x": list("abc"), "y": list("abc"), "z": df.corr().to_numpy()}}]}]
