# %% data
import numpy as np
species = ("Adelie", "Chinstrap", "Gentoo")
below = np.array([70, 31, 58])
above = np.array([82, 37, 66])
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
bottom = np.zeros(3)
for name, count in {"Below": below, "Above": above}.items():
    ax.bar(species, count, 0.5, label=name, bottom=bottom)
    bottom += count
ax.set_title("Number of penguins")
ax.legend(loc="upper right")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Number of penguins", "orientation": "vertical", "stacking": "stacked",
    "series": [{"kind": "bar", "label": "Below", "columns": {"x": list(species), "y": below}},
               {"kind": "bar", "label": "Above", "columns": {"x": list(species), "y": above, "base": below}}]}]
