# %% data
import numpy as np
labels = ['G1', 'G2', 'G3', 'G4', 'G5']
men = [20, 34, 30, 35, 27]
women = [25, 32, 34, 20, 25]
# %% program
import matplotlib.pyplot as plt
x = np.arange(len(labels))
width = 0.35
fig, ax = plt.subplots()
rects1 = ax.bar(x - width/2, men, width, label='Men')
rects2 = ax.bar(x + width/2, women, width, label='Women')
ax.set_ylabel('Scores')
ax.set_title('Scores by group and gender')
ax.set_xticks(x, labels)
ax.legend()
ax.bar_label(rects1, padding=3)
ax.bar_label(rects2, padding=3)
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Scores by group and gender", "orientation": "vertical", "stacking": "grouped",
    "x": {"scale": "category", "ticks": labels, "label": None}, "y": {"label": "Scores"},
    "series": [{"kind": "bar", "label": "Men", "columns": {"x": labels, "y": men}},
               {"kind": "bar", "label": "Women", "columns": {"x": labels, "y": women}}]}]
