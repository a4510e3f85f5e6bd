# %% data
import numpy as np
theta = np.linspace(0, 2 * np.pi, 37)
r = 1 + np.cos(theta)
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots(subplot_kw={"projection": "polar"})
ax.plot(theta, r, label="cardioid")
ax.set_title("Polar")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "polar", "title": "Polar", "series": [{"kind": "line", "label": "cardioid", "columns": {"theta": np.arange(37) * 10.0, "r": r}}]}]
