# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(5)
df = pd.DataFrame({"arm": np.repeat(["A", "B", "C"], 15), "score": np.round(rng.normal(50, 8, 45), 2)})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

sns.set_style("ticks")
fig, ax = plt.subplots(figsize=(7, 5))
sns.violinplot(data=df, x="arm", y="score", inner="quartile", cut=0, color="skyblue", ax=ax)
ax.set_xticks([0, 1, 2], ["Placebo", "Low", "High"])
ax.set_xlabel("Treatment arm")
ax.set_ylabel("Score")
ax.set_title("Scores per arm")
ax.axhline(50, ls="--", color="gray", lw=1)
sns.despine(trim=True)
plt.tight_layout()
plt.show()
# %% expected
arms = [df[df.arm == a].score for a in "ABC"]
names = ["Placebo", "Low", "High"]
expected = [{"kind": "violin", "title": "Scores per arm", "x": {"scale": "category", "ticks": names}, "series": [
    {"kind": "violin", "columns": {"label": names, "min": [a.min() for a in arms], "median": [sorted(a)[7] for a in arms], "max": [a.max() for a in arms]}},
    {"kind": "rule", "columns": {"y": [50]}}]}]
