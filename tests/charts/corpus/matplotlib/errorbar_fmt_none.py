# %% data
x = [1, 2, 3]
y = [10, 20, 15]
e = [1, 2, 3]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.scatter(x, y, label="mean")
ax.errorbar(x, y, yerr=e, fmt="none", ecolor="gray")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "scatter", "series": [{"kind": "scatter", "label": "mean", "columns": {"x": x, "y": y}},
    {"kind": "errorbar", "columns": {"x": x, "y": y, "y_low": [9, 18, 12], "y_high": [11, 22, 18]}}]}]
