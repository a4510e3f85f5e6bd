# %% data
answers = {"q1": 4.1, "q2": 3.2, "q3": 4.7}
questions = {"q1": "The documentation is easy to follow", "q2": "Support answers within a day", "q3": "I would recommend it"}
# %% program
import textwrap
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4))
bars = ax.barh(list(answers), list(answers.values()), color="#66c2a5")
ax.bar_label(bars, fmt="%.1f", padding=3)
wrapped = [textwrap.fill(questions[key], 20) for key in answers]
ax.set_yticks(range(len(answers)), labels=wrapped)
ax.set_xlim(0, 5)
ax.set_xlabel("Mean score")
ax.set_title("Survey results")
ax.invert_yaxis()
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.tight_layout()
plt.show()
# %% expected
import textwrap
names = [textwrap.fill(questions[k], 20) for k in answers]
expected = [{"kind": "bar", "orientation": "horizontal", "title": "Survey results", "y": {"scale": "category", "ticks": names},
    "annotations": [{"text": f"{v:.1f}"} for v in answers.values()],
    "series": [{"kind": "bar", "columns": {"x": list(answers.values()), "y": names}}]}]
