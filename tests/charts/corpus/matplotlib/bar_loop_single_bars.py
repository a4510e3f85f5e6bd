# %% data
speed = {"read": 120.5, "write": 80.25, "seek": 3.0}
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
for i, (name, v) in enumerate(speed.items()):
    ax.bar(i, v, label=name, color=f"C{i}")
ax.set_xticks(range(3))
ax.set_xticklabels(speed.keys(), rotation=45)
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "bar", "series": [{"kind": "bar", "label": n, "columns": {"x": [n], "y": [v]}} for n, v in speed.items()]}]
