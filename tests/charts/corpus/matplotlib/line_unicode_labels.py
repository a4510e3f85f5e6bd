# %% data
x = [1, 2, 3]
y = [4, 5, 6]
# %% program
import matplotlib.pyplot as plt
plt.plot(x, y, label="größe — 大きさ ✓")
plt.title("Заголовок: α→β")
plt.xlabel("température [°C]")
plt.ylabel(r"$\sigma^2$")
plt.legend(title="Légende")
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Заголовок: α→β", "x": {"label": "température [°C]"}, "y": {"label": r"$\sigma^2$"},
    "series": [{"kind": "line", "label": "größe — 大きさ ✓", "columns": {"x": x, "y": y}}]}]
