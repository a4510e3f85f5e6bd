# %% data
import numpy as np
import pandas as pd
years, months = [1949, 1950, 1951], ["Jan", "Feb", "Mar", "Apr"]
flights = pd.DataFrame(np.arange(12).reshape(4, 3) * 7 + 100, index=months, columns=years)
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
plt.figure(figsize=(8, 6))
sns.heatmap(flights, annot=True, fmt="d", cmap="YlGnBu", cbar_kws={"label": "passengers"})
plt.title("Flights")
plt.show()
# %% expected
expected = [{"kind": "heatmap", "title": "Flights", "x": {"scale": "category", "ticks": ["1949", "1950", "1951"]}, "y": {"scale": "category", "ticks": months}, "z": {"label": "passengers"},
    "series": [{"kind": "heatmap", "columns": {"x": ["1949", "1950", "1951"], "y": months, "z": flights.to_numpy()}}]}]
