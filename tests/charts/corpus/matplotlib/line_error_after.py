# %% data
x = [1, 2, 3, 4]
y = [1, 4, 9, 16]
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, label="squares")
plt.title("Before the error")
plt.legend()
print("last:", y[-1])
result = y[10]
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Before the error", "series": [{"kind": "line", "label": "squares", "columns": {"x": x, "y": y}}]}]
