# %% data
import pandas as pd
df = pd.DataFrame({"solar": [1.0, 2.0, 4.0], "wind": [3.0, 3.5, 2.0]}, index=[2020, 2021, 2022])
# %% program
import matplotlib.pyplot as plt
df.plot.area(alpha=0.6)
plt.title("Energy")
plt.show()
# %% expected
expected = [{"kind": "area", "title": "Energy", "stacking": "stacked", "series": [
    {"kind": "area", "label": "solar", "columns": {"x": [2020, 2021, 2022], "y": df.solar.tolist()}},
    {"kind": "area", "label": "wind", "columns": {"x": [2020, 2021, 2022], "y": df.wind.tolist(), "y_base": df.solar.tolist()}}]}]
