# %% data
names = ["control", "drug A", "drug B"]
means = [5.0, 7.2, 6.1]
sds = [0.5, 0.9, 0.7]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(names, means, yerr=sds, capsize=5, label="mean ± sd")
ax.set_ylabel("response")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "bar", "y": {"label": "response"}, "series": [
    {"kind": "bar", "label": "mean ± sd", "columns": {"x": names, "y": means}},
    {"kind": "errorbar", "columns": {"x": names, "y": means, "y_low": [m - s for m, s in zip(means, sds)], "y_high": [m + s for m, s in zip(means, sds)]}}]}]
