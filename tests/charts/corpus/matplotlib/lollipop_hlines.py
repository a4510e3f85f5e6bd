# %% data
names = ["A", "B", "C"]
values = [4.0, 7.5, 2.25]
# %% program
import matplotlib.pyplot as plt
plt.hlines(y=range(3), xmin=0, xmax=values, color="skyblue")
plt.plot(values, range(3), "o")
plt.yticks(range(3), names)
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "series": [
    {"kind": "bar", "columns": {"x": values, "y": names}}, {"kind": "scatter", "columns": {"x": values, "y": names}}]}]
