# %% data
who = ["ann", "bob", "ann", "cy"]
score = [3, 4, 5, 1]
# %% program
import matplotlib.pyplot as plt
plt.scatter(who, score)
plt.show()
# %% expected
expected = [{"kind": "scatter", "x": {"scale": "category", "ticks": ["ann", "bob", "cy"]}, "series": [{"kind": "scatter", "columns": {"x": who, "y": score}}]}]
