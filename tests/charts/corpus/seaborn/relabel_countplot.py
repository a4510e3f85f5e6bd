# %% data
import pandas as pd
df = pd.DataFrame({"survived": [0, 1, 1, 0, 0, 1, 0, 0], "age": [22, 38, 26, 35, 35, 27, 54, 2]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
plt.figure(figsize=(6, 4))
ax = sns.countplot(x="survived", data=df, hue="survived", palette="Set2", legend=False)
ax.set_xticks([0, 1])
ax.set_xticklabels(["Did not survive", "Survived"])
ax.set_title("Survival count")
ax.set_xlabel("")
ax.set_ylabel("Passengers")
total = len(df)
for patch in ax.patches:
    height = patch.get_height()
    if height > 0:
        ax.annotate(f"{100 * height / total:.1f}%", (patch.get_x() + patch.get_width() / 2, height),
                    ha="center", va="bottom")
plt.tight_layout()
plt.show()
# %% expected
names = ["Did not survive", "Survived"]
expected = [{"kind": "bar", "title": "Survival count", "x": {"scale": "category", "ticks": names}, "y": {"label": "Passengers"},
    "annotations": [{"text": "62.5%"}, {"text": "37.5%"}], "series": [{"kind": "bar", "columns": {"x": names, "y": [5, 3]}}]}]
