# %% data
import numpy as np
languages = ["Python", "JavaScript", "Java", "C++", "Go", "Rust"]
share = np.array([28.1, 17.4, 15.9, 10.2, 8.8, 4.4])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(9, 5))
colors = plt.cm.viridis(np.linspace(0.2, 0.9, len(languages)))
ax.bar(languages, share, color=colors)
plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
ax.tick_params(axis="x", labelsize=12)
ax.set_ylabel("Share (%)")
ax.set_title("Language popularity")
for i, value in enumerate(share):
    ax.text(i, value + 0.4, f"{value:.1f}%", ha="center", fontsize=9)
ax.margins(y=0.15)
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Language popularity", "x": {"scale": "category", "ticks": languages},
    "annotations": [{"text": f"{v:.1f}%"} for v in share],
    "series": [{"kind": "bar", "columns": {"x": languages, "y": share}}]}]
