# %% data
import numpy as np
rng = np.random.default_rng(19)
x = rng.uniform(0, 10, 40)
y = 2 * x + 1 + rng.normal(size=40)
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.regplot(x=x, y=y, ci=None, line_kws={"color": "red"})
plt.show()
# %% expected
grid = np.linspace(x.min(), x.max(), 100)
a, b = np.polyfit(x, y, 1)
expected = [{"kind": "scatter", "series": [{"kind": "scatter", "columns": {"x": x, "y": y}}, {"kind": "line", "columns": {"x": grid, "y": a * grid + b}}]}]
