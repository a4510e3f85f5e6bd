# %% data
import numpy as np
cities = ["Oslo", "Rome", "Paris"]
rain = np.array([60.0, 45.5, 50.25])
sun = np.array([5.0, 8.25, 6.5])
# %% program
import matplotlib.pyplot as plt

fig, axes = plt.subplots(2, 1, sharex=True, figsize=(6, 6))
x = np.arange(len(cities))
axes[0].bar(x, rain, color="tab:blue")
axes[0].set_ylabel("Rain (mm)")
axes[0].set_title("Rain")
axes[1].bar(x, sun, color="tab:orange")
axes[1].set_ylabel("Sun (h)")
axes[1].set_title("Sun")
axes[1].set_xticks(x)
axes[1].set_xticklabels(cities)
fig.suptitle("Climate")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "multi", "title": "Climate", "charts": [
    {"kind": "bar", "title": "Rain", "row": 0, "column": 0, "x": {"scale": "category"}, "series": [{"kind": "bar", "columns": {"x": cities, "y": rain}}]},
    {"kind": "bar", "title": "Sun", "row": 1, "column": 0, "x": {"scale": "category"}, "series": [{"kind": "bar", "columns": {"x": cities, "y": sun}}]}]}]
