# %% data
days = ["Mo", "Tu", "We", "Th", "Fr"]
full = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
morning = [21.0, 22.5, 19.0, 18.5, 23.0]
evening = [16.0, 17.5, 15.0, 14.0, 18.5]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 4.5))
ax.plot(days, morning, marker="o", label="Morning")
ax.plot(days, evening, marker="s", label="Evening")
ax.fill_between(days, evening, morning, alpha=0.15, color="gray")
ax.set_xticks(ax.get_xticks())
ax.set_xticklabels(full, rotation=20)
ax.set_ylabel("Temperature (°C)")
ax.set_title("Temperature over the week")
ax.legend()
ax.grid(True, linestyle=":")
fig.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Temperature over the week", "x": {"scale": "category", "ticks": full}, "y": {"label": "Temperature (°C)"},
    "series": [{"kind": "line", "label": "Morning", "columns": {"x": full, "y": morning}},
               {"kind": "line", "label": "Evening", "columns": {"x": full, "y": evening}},
               {"kind": "area", "columns": {"x": full, "y": morning, "y_base": evening}}]}]
