# %% data
import numpy as np
rng = np.random.default_rng(11)
mu, sigma = 5.0, 2.0
sample = rng.normal(mu, sigma, 2000)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
n, bins, _ = ax.hist(sample, 50, density=1, label="sample")
pdf = np.exp(-0.5 * ((bins - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
ax.plot(bins, pdf, "--", label="pdf")
ax.legend()
plt.show()
# %% expected
h, edges = np.histogram(sample, 50, density=True)
expected = [{"kind": "histogram", "series": [
    {"kind": "histogram", "label": "sample", "columns": {"start": edges[:-1], "end": edges[1:], "count": h}},
    {"kind": "line", "label": "pdf", "columns": {"x": edges, "y": np.exp(-0.5 * ((edges - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))}}]}]
