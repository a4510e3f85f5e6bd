# %% data
import numpy as np
x = np.random.default_rng(5).normal(10, 2, 200)
# %% program
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot(x, bins=20, kde=True, color="purple")
plt.title("With KDE")
plt.show()
# %% expected
def kde_line(v, n, scale):
    h = v.std(ddof=1) * len(v) ** (-1 / 5)
    at = np.linspace(v.min(), v.max(), 200)
    return at, np.exp(-0.5 * ((at[:, None] - v) / h) ** 2).sum(axis=1) / (len(v) * h * np.sqrt(2 * np.pi)) * scale
c, e = np.histogram(x, 20)
at, d = kde_line(x, 200, len(x) * (e[1] - e[0]))
expected = [{"kind": "histogram", "title": "With KDE", "series": [
    {"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": c}}, {"kind": "line", "columns": {"x": at, "y": d}}]}]
