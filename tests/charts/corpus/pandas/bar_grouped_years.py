# %% data
import pandas as pd
df = pd.DataFrame({"apples": [3, 2, 5], "pears": [1, 4, 2.5]}, index=[2020, 2021, 2022])
# %% program
import matplotlib.pyplot as plt
ax = df.plot.bar(rot=0, title="Fruit")
ax.set_xlabel("year")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Fruit", "stacking": "grouped", "x": {"label": "year", "scale": "category"}, "series": [
    {"kind": "bar", "label": c, "columns": {"x": ["2020", "2021", "2022"], "y": df[c].tolist()}} for c in df]}]
