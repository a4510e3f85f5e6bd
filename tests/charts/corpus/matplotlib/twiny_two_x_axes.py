# %% data
import numpy as np
depth = np.array([0, 10, 20, 30, 40])
temperature = np.array([18.0, 16.5, 12.0, 9.0, 8.5])
salinity = np.array([33.1, 33.4, 34.0, 34.6, 34.9])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 7))
ax.plot(temperature, depth, color="tab:red", label="Temperature")
ax.set_xlabel("Temperature (°C)", color="tab:red")
ax.set_ylabel("Depth (m)")
top = ax.twiny()
top.plot(salinity, depth, color="tab:blue", label="Salinity")
top.set_xlabel("Salinity (PSU)", color="tab:blue")
ax.invert_yaxis()
ax.grid(alpha=0.3)
ax.set_title("Profile at station 4", pad=40)
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Profile at station 4", "x": {"label": "Temperature (°C)"}, "y": {"label": "Depth (m)", "limits": [42, -2]}, "more_axes": {"x2": {"label": "Salinity (PSU)", "scale": "linear"}},
    "series": [{"kind": "line", "label": "Temperature", "axis": "y", "columns": {"x": temperature, "y": depth}},
               {"kind": "line", "label": "Salinity", "axis": "x2", "columns": {"x": salinity, "y": depth}}]}]
