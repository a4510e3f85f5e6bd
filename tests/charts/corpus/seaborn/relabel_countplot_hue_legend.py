# %% data
import pandas as pd
df = pd.DataFrame({"pclass": [1, 2, 3, 3, 1, 3, 2, 1], "sex": ["m", "f", "m", "f", "f", "m", "m", "f"]})
# %% program
import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(7, 4))
sns.countplot(data=df, x="pclass", hue="sex", hue_order=["m", "f"], ax=ax)
ax.set_xticks(range(3), labels=["First", "Second", "Third"])
handles, _ = ax.get_legend_handles_labels()
ax.legend(handles, ["Male", "Female"], title="Sex")
ax.set_xlabel("Class")
ax.set_ylabel("Count")
ax.set_title("Passengers by class")
for container in ax.containers:
    ax.bar_label(container)
sns.despine()
plt.show()
# %% expected
classes = ["First", "Second", "Third"]
male = [sum((df.pclass == c) & (df.sex == "m")) for c in (1, 2, 3)]
female = [sum((df.pclass == c) & (df.sex == "f")) for c in (1, 2, 3)]
expected = [{"kind": "bar", "title": "Passengers by class", "stacking": "grouped", "x": {"label": "Class", "scale": "category", "ticks": classes},
    "series": [{"kind": "bar", "label": "Male", "columns": {"x": classes, "y": male}},
               {"kind": "bar", "label": "Female", "columns": {"x": classes, "y": female}}]}]
