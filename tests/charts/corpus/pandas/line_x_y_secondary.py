# %% data
import pandas as pd
df = pd.DataFrame({"t": [1, 2, 3, 4], "speed": [10.0, 20.0, 30.0, 25.0], "rpm": [1000, 2000, 3000, 2500]})
# %% program
import matplotlib.pyplot as plt
ax = df.plot(x="t", y="speed", label="speed")
df.plot(x="t", y="rpm", secondary_y=True, ax=ax, label="rpm")
plt.show()
# %% expected
expected = [{"kind": "line", "series": [
    {"kind": "line", "label": "speed", "axis": "y", "columns": {"x": df.t.tolist(), "y": df.speed.tolist()}},
    {"kind": "line", "axis": "y2", "columns": {"x": df.t.tolist(), "y": df.rpm.tolist()}}]}]
