# %% data
import pandas as pd
df = pd.DataFrame({"year": [2019, 2020, 2021, 2022], "gdp": [1.1, -3.2, 4.5, 2.0]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.lineplot(data=df, x="year", y="gdp", marker="o")
plt.title("GDP")
plt.show()
# %% expected
expected = [{"kind": "line", "library": "seaborn", "title": "GDP", "x": {"label": "year"}, "y": {"label": "gdp"}, "series": [{"kind": "line", "columns": {"x": [2019, 2020, 2021, 2022], "y": df.gdp.tolist()}}]}]
