# %% data
import numpy as np
n = np.array([10, 100, 1000, 10000])
t = np.array([0.0012, 0.0131, 0.149, 1.52])
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.loglog(n, t, 'o-', label='quicksort')
ax.set_xlabel('n')
ax.set_ylabel('time [s]')
ax.set_title('Scaling')
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Scaling", "x": {"label": "n", "scale": "log"}, "y": {"label": "time [s]", "scale": "log"},
    "series": [{"kind": "line", "label": "quicksort", "columns": {"x": n, "y": t}}]}]
