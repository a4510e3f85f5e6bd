# %% data
import pandas as pd
s = pd.Series(list("abracadabra"))
# %% program
import matplotlib.pyplot as plt
s.value_counts().plot.barh()
plt.xlabel("count")
plt.show()
# %% expected
c = s.value_counts()
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "count"}, "series": [{"kind": "bar", "columns": {"x": c.tolist(), "y": list(c.index)}}]}]
