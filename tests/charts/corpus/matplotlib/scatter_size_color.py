# %% data
import numpy as np
rng = np.random.default_rng(30)
x, y = rng.random(60), rng.random(60)
size, value = rng.uniform(10, 300, 60), rng.random(60) * 100
# %% program
import matplotlib.pyplot as plt
plt.figure(figsize=(7, 5))
sc = plt.scatter(x, y, s=size, c=value, cmap="viridis", alpha=0.6)
plt.colorbar(sc, label="intensity")
plt.xlabel("x")
plt.ylabel("y")
plt.title("Bubbles")
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "Bubbles", "z": {"label": "intensity"}, "series": [{"kind": "scatter", "columns": {"x": x, "y": y, "size": size, "value": value}}]}]
