# %% data
import numpy as np
month = ["J", "F", "M", "A", "M2", "J2"]
rain = [50, 40, 60, 80, 70, 30]
temp = [3.5, 4.0, 7.5, 12.0, 16.5, 20.0]
# %% program
import matplotlib.pyplot as plt
fig, ax1 = plt.subplots()
ax1.bar(month, rain, color='tab:blue', alpha=0.6, label='Rain')
ax1.set_ylabel('Rain (mm)', color='tab:blue')
ax1.tick_params(axis='y', labelcolor='tab:blue')
ax2 = ax1.twinx()
ax2.plot(month, temp, color='tab:red', marker='o', label='Temp')
ax2.set_ylabel('Temp (°C)', color='tab:red')
plt.title('Climate')
fig.legend(loc='upper left')
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Climate", "orientation": "vertical", "x": {"scale": "category", "ticks": month},
    "y": {"label": "Rain (mm)"}, "y2": {"label": "Temp (°C)", "scale": "linear"},
    "series": [{"kind": "bar", "label": "Rain", "axis": "y", "columns": {"x": month, "y": rain}},
               {"kind": "line", "label": "Temp", "axis": "y2", "columns": {"x": month, "y": temp}}]}]
