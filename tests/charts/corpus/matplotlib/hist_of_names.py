# %% data
grades = ["A", "B", "A", "C", "B", "A", "D"]
# %% program
import matplotlib.pyplot as plt
plt.hist(grades)
plt.title("Grades")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Grades", "x": {"scale": "category"}, "series": [{"kind": "bar", "columns": {"x": ["A", "B", "C", "D"], "y": [3, 2, 1, 1]}}]}]
