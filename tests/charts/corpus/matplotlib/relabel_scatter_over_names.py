# %% data
groups = ["ctrl", "ctrl", "drugA", "drugA", "drugB", "drugB"]
response = [1.0, 1.4, 2.2, 2.9, 3.1, 2.7]
long_names = {"ctrl": "Control", "drugA": "Drug A (10 mg)", "drugB": "Drug B (20 mg)"}
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.scatter(groups, response, s=60, alpha=0.7, color="purple")
means = {}
for g, r in zip(groups, response):
    means.setdefault(g, []).append(r)
ax.plot(list(means), [sum(v) / len(v) for v in means.values()], "k_", markersize=30, label="mean")
ax.set_xticks(range(len(means)))
ax.set_xticklabels([long_names[g] for g in means])
ax.set_xlim(-0.5, len(means) - 0.5)
ax.set_ylabel("Response")
ax.set_title("Dose response")
ax.legend()
plt.show()
# %% expected
xs = [long_names[g] for g in groups]
expected = [{"kind": "scatter", "title": "Dose response", "x": {"scale": "category", "ticks": list(long_names.values())},
    "series": [{"kind": "scatter", "columns": {"x": xs, "y": response}},
               {"kind": "scatter", "label": "mean", "columns": {"x": list(long_names.values()), "y": [1.2, 2.55, 2.9]}}]}]
