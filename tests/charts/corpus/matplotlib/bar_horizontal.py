# %% data
langs = ["Python", "JavaScript", "Go", "Rust"]
share = [48.24, 62.3, 13.5, 12.6]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.barh(langs, share, color="steelblue")
ax.set_xlabel("Share (%)")
ax.set_title("Popularity")
ax.invert_yaxis()
plt.tight_layout()
plt.savefig("langs.svg")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Popularity", "orientation": "horizontal", "x": {"label": "Share (%)", "scale": "linear"}, "y": {"scale": "category", "ticks": langs},
    "series": [{"kind": "bar", "color": "#4682b4", "columns": {"x": share, "y": langs}}]}]
