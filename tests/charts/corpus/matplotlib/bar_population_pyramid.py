# %% data
ages = ["0-19", "20-39", "40-59", "60+"]
men = [12.1, 13.5, 13.0, 9.2]
women = [11.6, 13.2, 13.1, 11.4]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.barh(ages, [-m for m in men], label="Men")
ax.barh(ages, women, label="Women")
ax.set_xlabel("millions")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "stacking": "overlaid", "x": {"label": "millions"}, "series": [
    {"kind": "bar", "label": "Men", "columns": {"x": [-m for m in men], "y": ages}}, {"kind": "bar", "label": "Women", "columns": {"x": women, "y": ages}}]}]
