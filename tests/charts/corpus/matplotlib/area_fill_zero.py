# %% data
x = [0, 1, 2, 3, 4]
y = [1, 3, 2, 5, 4]
# %% program
import matplotlib.pyplot as plt
plt.fill_between(x, y, color="skyblue", alpha=0.4)
plt.plot(x, y, color="Slateblue")
plt.title("Area")
plt.show()
# %% expected
expected = [{"kind": "area", "title": "Area", "series": [{"kind": "area", "color": "#87ceeb", "columns": {"x": x, "y": y}}, {"kind": "line", "columns": {"x": x, "y": y}}]}]
