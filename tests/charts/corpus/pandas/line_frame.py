# %% data
import pandas as pd
import numpy as np
df = pd.DataFrame({"a": np.arange(10) ** 2, "b": np.arange(10) * 3.5}, index=np.arange(100, 110))
# %% program
import matplotlib.pyplot as plt
df.plot(title="Two columns", xlabel="id", ylabel="value")
plt.show()
# %% expected
expected = [{"kind": "line", "library": "pandas", "title": "Two columns", "x": {"label": "id"}, "y": {"label": "value"}, "series": [
    {"kind": "line", "label": c, "columns": {"x": df.index.to_numpy(), "y": df[c].to_numpy()}} for c in df]}]
