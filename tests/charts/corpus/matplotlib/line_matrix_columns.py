# %% data
import numpy as np
rng = np.random.default_rng(3)
data = rng.normal(size=(20, 3)).cumsum(axis=0)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(data)
ax.legend(["first", "second", "third"], loc="upper left")
ax.set(title="Random walks", xlabel="step", ylabel="position")
fig.savefig("walks.png", dpi=150, bbox_inches="tight")
# %% expected
expected = [{"kind": "line", "title": "Random walks", "x": {"label": "step"}, "y": {"label": "position"},
    "series": [{"kind": "line", "label": name, "columns": {"x": range(20), "y": data[:, i]}}
               for i, name in enumerate(["first", "second", "third"])]}]
expected[0]["series"] = [dict(s, columns={"x": list(range(20)), "y": s["columns"]["y"]}) for s in expected[0]["series"]]
