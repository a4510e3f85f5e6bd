# %% data
a = {"u": [1, 2, 3], "v": [3, 2, 1], "w": [2, 2, 2]}
# %% program
import matplotlib.pyplot as plt
fig, axes = plt.subplots(2, 2, sharex=True, sharey=True)
for ax, (name, values) in zip(axes.flat, a.items()):
    ax.bar(["x", "y", "z"], values)
    ax.set_title(name)
axes[1, 1].axis("off")
plt.show()
# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "row": i // 2, "column": i % 2, "title": n, "series": [{"kind": "bar", "columns": {"x": ["x", "y", "z"], "y": v}}]} for i, (n, v) in enumerate(a.items())]}]
