# %% data
import pandas as pd
df = pd.DataFrame({"cls": ["First", "Third", "Third", "Second", "Third", "First"], "alive": ["yes", "no", "no", "yes", "yes", "no"]})
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
sns.countplot(data=df, x="cls", hue="alive", order=["First", "Second", "Third"], ax=ax)
ax.set_title("Titanic")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Titanic", "stacking": "grouped", "y": {"label": "count"}, "series": [
    {"kind": "bar", "label": "yes", "columns": {"x": ["First", "Second", "Third"], "y": [1, 1, 1]}},
    {"kind": "bar", "label": "no", "columns": {"x": ["First", "Third"], "y": [1, 2]}}]}]
