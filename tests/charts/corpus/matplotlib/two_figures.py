# %% data
a = [1, 2, 3]
b = {"x": 5, "y": 3}
# %% program
import matplotlib.pyplot as plt

plt.figure()
plt.plot(a)
plt.title("First")

plt.figure()
plt.bar(list(b.keys()), list(b.values()))
plt.title("Second")
plt.show()
# %% expected
expected = [
    {"kind": "line", "title": "First", "series": [{"kind": "line", "columns": {"x": [0, 1, 2], "y": a}}]},
    {"kind": "bar", "title": "Second", "series": [{"kind": "bar", "columns": {"x": ["x", "y"], "y": [5, 3]}}]},
]
