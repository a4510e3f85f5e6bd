# %% data
cats = ["a", "b", "c", "d"]
count = [40, 30, 20, 10]
cumulative = [40.0, 70.0, 90.0, 100.0]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(range(4), count, label="count")
ax.plot(range(4), cumulative, "r-o", label="cumulative %")
ax.set_xticks(range(4))
ax.set_xticklabels(cats)
ax.legend()
ax.set_title("Pareto")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Pareto", "x": {"scale": "category", "ticks": cats}, "series": [
    {"kind": "bar", "label": "count", "columns": {"x": cats, "y": count}},
    {"kind": "line", "label": "cumulative %", "columns": {"x": cats, "y": cumulative}}]}]
