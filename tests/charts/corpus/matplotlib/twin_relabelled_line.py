# %% data
months = ["Jan", "Feb", "Mar"]
rain = [80.0, 60.5, 70.0]
temperature = [2.0, 3.5, 8.0]
# %% program
import matplotlib.pyplot as plt

fig, ax1 = plt.subplots()
ax1.bar([1, 2, 3], rain, color="lightsteelblue", label="Rain")
ax1.set_xticks([1, 2, 3], labels=months)
ax1.set_ylabel("Rain (mm)")
ax2 = ax1.twinx()
ax2.plot([1, 2, 3], temperature, color="firebrick", marker="o", label="Temperature")
ax2.set_ylabel("Temperature (°C)")
lines1, labels1 = ax1.get_legend_handles_labels()
lines2, labels2 = ax2.get_legend_handles_labels()
ax1.legend(lines1 + lines2, labels1 + labels2, loc="upper center")
ax1.set_title("Climate chart")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Climate chart", "x": {"scale": "category", "ticks": months},
    "series": [{"kind": "bar", "label": "Rain", "axis": "y", "columns": {"x": months, "y": rain}},
               {"kind": "line", "label": "Temperature", "axis": "y2", "columns": {"x": months, "y": temperature}}]}]
