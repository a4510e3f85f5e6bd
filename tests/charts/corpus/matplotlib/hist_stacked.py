# %% data
import numpy as np
rng = np.random.default_rng(8)
first, second = rng.uniform(0, 10, 150), rng.uniform(0, 5, 90)
# %% program
import matplotlib.pyplot as plt
plt.hist([first, second], bins=10, range=(0, 10), stacked=True, label=["day", "night"], color=["gold", "navy"])
plt.legend()
plt.xlabel("hour")
plt.show()
# %% expected
edges = np.linspace(0, 10, 11)
expected = [{"kind": "histogram", "stacking": "stacked", "x": {"label": "hour"}, "series": [
    {"kind": "histogram", "label": n, "color": c, "columns": {"start": edges[:-1], "end": edges[1:], "count": np.histogram(v, edges)[0]}}
    for n, v, c in (("day", first, "#ffd700"), ("night", second, "#000080"))]}]
