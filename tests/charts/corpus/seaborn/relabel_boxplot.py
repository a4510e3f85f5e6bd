# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(11)
df = pd.DataFrame({"smoker": ["y"] * 9 + ["n"] * 9, "charges": np.round(np.append(rng.uniform(20, 60, 9), rng.uniform(5, 20, 9)), 2)})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(6, 5))
sns.boxplot(x="smoker", y="charges", data=df, ax=ax, whis=(0, 100), color="lightgray")
ax.set_xticks([0, 1])
ax.set_xticklabels(["Smoker", "Non-smoker"])
ax.set_xlabel("")
ax.set_ylabel("Charges ($1000)")
ax.set_title("Insurance charges")
plt.tight_layout()
plt.show()
# %% expected
groups = [df[df.smoker == s].charges for s in "yn"]
expected = [{"kind": "box", "title": "Insurance charges", "x": {"scale": "category", "ticks": ["Smoker", "Non-smoker"]},
    "series": [{"kind": "box", "columns": {"label": ["Smoker", "Non-smoker"], "min": [g.min() for g in groups], "q1": [sorted(g)[2] for g in groups],
        "median": [sorted(g)[4] for g in groups], "q3": [sorted(g)[6] for g in groups], "max": [g.max() for g in groups]}}]}]
