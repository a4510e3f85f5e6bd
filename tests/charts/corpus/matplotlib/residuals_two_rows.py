# %% data
import numpy as np
rng = np.random.default_rng(60)
x = np.linspace(0, 1, 20)
y = x ** 2 + rng.normal(0, 0.01, 20)
# %% program
import matplotlib.pyplot as plt
fig, (ax1, ax2) = plt.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [3, 1]})
ax1.plot(x, y, "b.", label="data")
ax1.plot(x, x ** 2, "r-", label="model")
ax1.legend()
ax2.stem(x, y - x ** 2)
ax2.axhline(0, color="k")
ax2.set_xlabel("x")
fig.align_ylabels()
plt.show()
# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "scatter", "row": 0, "column": 0, "series": [{"kind": "scatter", "label": "data", "color": "#0000ff", "columns": {"x": x, "y": y}}, {"kind": "line", "label": "model", "columns": {"x": x, "y": x ** 2}}]},
    {"kind": "bar", "row": 1, "column": 0, "x": {"label": "x"}, "series": [{"kind": "bar", "columns": {"x": x, "y": y - x ** 2}}, {"kind": "rule", "columns": {"y": [0]}}]}]}]
