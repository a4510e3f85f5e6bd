# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(2)
df = pd.DataFrame({"n": np.repeat([1, 10, 100, 1000], 7), "ms": np.round(rng.uniform(1, 9, 28), 2)})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(7, 4))
sns.boxplot(data=df, x="n", y="ms", native_scale=True, log_scale=(True, False), whis=(0, 100), ax=ax)
ax.set_xlabel("Rows")
ax.set_ylabel("Time (ms)")
ax.set_title("Latency by size")
ax.grid(True, axis="y", alpha=0.4)
fig.tight_layout()
plt.show()
# %% expected
parts = [sorted(df[df.n == n].ms) for n in (1, 10, 100, 1000)]
expected = [{"kind": "box", "title": "Latency by size", "x": {"label": "Rows", "scale": "log"}, "series": [{"kind": "box", "columns": {
    "label": ["1", "10", "100", "1000"], "min": [p[0] for p in parts], "median": [p[3] for p in parts], "max": [p[6] for p in parts]}}]}]
