# %% data
import numpy as np
names = ["a", "b", "c", "d"]
values = np.array([4, 6, 95, 5])
# %% program
import matplotlib.pyplot as plt

fig, (top, low) = plt.subplots(2, 1, sharex=True, figsize=(6, 5))
fig.subplots_adjust(hspace=0.05)
for ax in (top, low):
    ax.bar(names, values, color="tab:blue")
top.set_ylim(90, 100)
low.set_ylim(0, 10)
top.spines.bottom.set_visible(False)
low.spines.top.set_visible(False)
top.tick_params(labeltop=False)
low.set_xticks(range(4), labels=["Ant", "Bee", "Cat", "Dog"])
low.set_xlabel("Animal")
mark = dict(marker=[(-1, -0.5), (1, 0.5)], markersize=12, linestyle="none", color="k", clip_on=False)
top.plot([0, 1], [0, 0], transform=top.transAxes, **mark)
low.plot([0, 1], [1, 1], transform=low.transAxes, **mark)
top.set_title("One outlier")
plt.show()
# %% expected
animals = ["Ant", "Bee", "Cat", "Dog"]
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "title": "One outlier", "y": {"limits": [90, 100]}, "series": [{"kind": "bar", "columns": {"x": animals, "y": values}}]},
    {"kind": "bar", "x": {"label": "Animal", "ticks": animals}, "y": {"limits": [0, 10]}, "series": [{"kind": "bar", "columns": {"x": animals, "y": values}}]}]}]
