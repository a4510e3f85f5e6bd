# %% data
import pandas as pd
index = pd.timedelta_range("0h", periods=4, freq="2h")
df = pd.DataFrame({"cpu": [10.0, 55.0, 40.0, 20.0], "mem": [30.0, 35.0, 60.0, 50.0]}, index=index)
# %% program
import matplotlib.pyplot as plt

ax = df.plot(figsize=(8, 4), title="Load since start")
ax.axhline(50, color="red", linestyle=":")
ax.set_ylabel("Percent")
ax.set_xlabel("Time since start")
ax.set_ylim(0, 100)
ax.legend(loc="upper left")
plt.tight_layout()
plt.show()
# %% expected
seconds = [0, 7200, 14400, 21600]
expected = [{"kind": "line", "title": "Load since start", "x": {"label": "Time since start", "scale": "duration"}, "series": [
    {"kind": "line", "label": "cpu", "columns": {"x": seconds, "y": df.cpu.tolist()}}, {"kind": "line", "label": "mem", "columns": {"x": seconds, "y": df.mem.tolist()}},
    {"kind": "rule", "columns": {"y": [50]}}]}]
