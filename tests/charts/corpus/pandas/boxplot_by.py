# %% data
import pandas as pd
df = pd.DataFrame({"g": ["u", "u", "u", "v", "v", "v"], "val": [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]})
# %% program
import matplotlib.pyplot as plt
df.boxplot(column="val", by="g")
plt.suptitle("")
plt.title("By group")
plt.show()
# %% expected
expected = [{"kind": "box", "library": "pandas", "title": "By group", "x": {"label": "g"}, "series": [{"kind": "box", "columns": {
    "label": ["u", "v"], "min": [1, 10], "q1": [1.5, 15], "median": [2, 20], "q3": [2.5, 25], "max": [3, 30]}}]}]
