# %% data
import pandas as pd
df = pd.DataFrame({"revenue": [10, 12, 15, 14, 18, 21], "cost": [8, 9, 9.5, 10, 11, 12]}, index=pd.date_range("2023-01-01", periods=6, freq="MS"))
# %% program
import matplotlib.pyplot as plt
df.plot(kind="line", marker="o", grid=True)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "x": {"scale": "datetime"}, "series": [
    {"kind": "line", "label": c, "columns": {"x": [d.date().isoformat() for d in df.index], "y": df[c].tolist()}} for c in df]}]
