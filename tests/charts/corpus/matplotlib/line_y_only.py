# %% data
values = [3, 1, 4, 1, 5, 9, 2, 6]
# %% program
import matplotlib.pyplot as plt
plt.plot(values, marker="o")
plt.title('Values')
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Values", "x": {"label": None}, "series": [
    {"kind": "line", "label": None, "columns": {"x": list(range(8)), "y": values}}]}]
