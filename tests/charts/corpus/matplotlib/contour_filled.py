# %% data
import numpy as np
x = np.linspace(-3, 3, 25)
y = np.linspace(-2, 2, 17)
X, Y = np.meshgrid(x, y)
Z = np.exp(-X**2 - Y**2)
levels = [0.1, 0.3, 0.5, 0.7, 0.9]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
cf = ax.contourf(X, Y, Z, levels=levels, cmap="viridis")
cs = ax.contour(X, Y, Z, levels=levels, colors="k", linewidths=0.5)
ax.clabel(cs, inline=True, fontsize=8)
fig.colorbar(cf)
ax.set_title("Contours")
plt.show()
# %% expected
grid = {"x": x, "y": y, "z": Z, "levels": levels}
expected = [{"kind": "contour", "title": "Contours", "series": [{"kind": "contour", "columns": grid}, {"kind": "contour", "columns": grid}]}]
