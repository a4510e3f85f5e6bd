# %% data
import pandas as pd
df = pd.DataFrame({"a_ms": [1.0, 2.0, 3.0, 4.0, 5.0], "b_ms": [2.0, 4.0, 6.0, 8.0, 10.0]})
# %% program
import matplotlib.pyplot as plt

ax = df.plot(kind="box", figsize=(6, 4), grid=True)
ax.set_xticklabels(["Cached", "Uncached"])
ax.set_ylabel("Latency (ms)")
ax.set_title("Latency with and without cache")
medians = df.median()
for i, m in enumerate(medians, start=1):
    ax.text(i + 0.2, m, f"{m:g}")
plt.tight_layout()
plt.show()
# %% expected
names = ["Cached", "Uncached"]
expected = [{"kind": "box", "title": "Latency with and without cache", "x": {"scale": "category", "ticks": names},
    "annotations": [{"text": "3"}, {"text": "6"}],
    "series": [{"kind": "box", "columns": {"label": names, "min": [1, 2], "q1": [2, 4], "median": [3, 6], "q3": [4, 8], "max": [5, 10]}}]}]
