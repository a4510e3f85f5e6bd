# %% data
y = [2, 4, 8]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(y, label="base")
plt.savefig("one.png")
ax.plot([8, 4, 2], label="more")
ax.legend()
plt.show()
# %% expected
one = {"kind": "line", "label": "base", "columns": {"x": [0, 1, 2], "y": y}}
expected = [{"kind": "line", "series": [one]},
            {"kind": "line", "series": [one, {"kind": "line", "label": "more", "columns": {"x": [0, 1, 2], "y": [8, 4, 2]}}]}]
