# %% data
import pandas as pd
df = pd.DataFrame({"g": ["lo", "lo", "hi", "hi", "hi"], "v": [1.0, 1.5, 3.0, 3.5, 2.5]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

ax = sns.stripplot(data=df, x="g", y="v", jitter=False, size=8, color="darkgreen")
ax.set_xticks([0, 1])
ax.set_xticklabels(["Low exposure", "High exposure"])
ax.set_title("Exposure and value")
ax.set_xlabel("")
ax.set_ylabel("Value")
means = df.groupby("g", sort=False)["v"].mean()
for i, m in enumerate(means):
    ax.hlines(m, i - 0.2, i + 0.2, color="black", lw=2)
plt.tight_layout()
plt.show()
# %% expected
names = ["Low exposure", "High exposure"]
expected = [{"kind": "scatter", "title": "Exposure and value", "x": {"scale": "category", "ticks": names}, "series": [
    {"kind": "scatter", "columns": {"x": [names[0]] * 2 + [names[1]] * 3, "y": df.v.tolist()}},
    {"kind": "rule", "columns": {"y": [1.25]}}, {"kind": "rule", "columns": {"y": [3.0]}}]}]
