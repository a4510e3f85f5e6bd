# %% data
import pandas as pd
df = pd.DataFrame({"t": ["t0", "t1", "t2"] * 2, "g": ["a"] * 3 + ["b"] * 3, "v": [1.0, 2.0, 4.0, 2.0, 2.5, 3.0]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(7, 4))
sns.pointplot(data=df, x="t", y="v", hue="g", errorbar=None, markers=["o", "s"], linestyles=["-", "--"], ax=ax)
ax.set_xticks([0, 1, 2])
ax.set_xticklabels(["Baseline", "Week 4", "Week 8"])
ax.set_xlabel("Visit")
ax.set_ylabel("Mean")
ax.set_title("Change over visits")
ax.legend(title="Group")
plt.tight_layout()
plt.show()
# %% expected
visits = ["Baseline", "Week 4", "Week 8"]
expected = [{"kind": "line", "title": "Change over visits", "x": {"label": "Visit", "scale": "category", "ticks": visits},
    "series": [{"kind": "line", "label": g, "columns": {"x": visits, "y": df[df.g == g].v.tolist()}} for g in "ab"]}]
