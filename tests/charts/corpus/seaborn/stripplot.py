# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"day": ["Sat", "Sun", "Sat", "Sun", "Sun"], "v": [1.5, 2.5, 3.5, 4.5, 5.5]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.stripplot(data=df, x="day", y="v", jitter=True)
plt.show()
# %% expected
expected = [{"kind": "scatter", "x": {"scale": "category"}, "series": [{"kind": "scatter", "columns": {"x": ["Sat", "Sat", "Sun", "Sun", "Sun"], "y": [1.5, 3.5, 2.5, 4.5, 5.5]}}]}]
