# %% data
import numpy as np
x = np.linspace(0, 2 * np.pi, 41)
# %% program
import matplotlib.pyplot as plt
plt.style.use('ggplot')
plt.plot(x, np.sin(x))
plt.xticks([0, np.pi / 2, np.pi, 3 * np.pi / 2, 2 * np.pi], ['0', 'π/2', 'π', '3π/2', '2π'])
plt.title("ggplot")
plt.show()
# %% expected
expected = [{"kind": "line", "title": "ggplot", "x": {"scale": "linear", "tick_labels": ['0', 'π/2', 'π', '3π/2', '2π'], "ticks": [0, np.pi / 2, np.pi, 3 * np.pi / 2, 2 * np.pi]},
    "series": [{"kind": "line", "columns": {"x": x, "y": np.sin(x)}}]}]
