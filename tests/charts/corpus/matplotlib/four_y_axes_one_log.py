# %% data
days = [1, 2, 3, 4]
a, b, c, d = [1, 2, 3, 4], [10, 30, 20, 40], [0.1, 0.2, 0.1, 0.4], [1, 100, 10, 1000]
# %% program
import matplotlib.pyplot as plt

fig, host = plt.subplots(figsize=(9, 5), layout="constrained")
host.bar(days, a, color="lightgray", label="A")
axes = [host.twinx() for _ in range(3)]
for i, (axis, values, name, color) in enumerate(zip(axes, (b, c, d), "BCD", ("tab:red", "tab:green", "tab:blue"))):
    axis.spines["right"].set_position(("outward", 60 * i))
    axis.plot(days, values, color=color, label=name, marker=".")
    axis.set_ylabel(f"{name} value", color=color)
axes[2].set_yscale("log")
host.set_xlabel("Day")
host.set_ylabel("A value")
host.set_title("Four measures")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Four measures", "x": {"label": "Day"}, "y": {"label": "A value"}, "y2": {"label": "B value"},
    "more_axes": {"y3": {"label": "C value", "scale": "linear"}, "y4": {"label": "D value", "scale": "log"}},
    "series": [{"kind": "bar", "label": "A", "axis": "y", "columns": {"x": days, "y": a}},
               *[{"kind": "line", "label": n, "axis": f"y{i}", "columns": {"x": days, "y": v}} for i, (n, v) in enumerate(zip("BCD", (b, c, d)), 2)]]}]
