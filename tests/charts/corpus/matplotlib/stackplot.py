# %% data
year = [1950, 1960, 1970, 1980]
population = {"africa": [228, 284, 365, 477], "asia": [1394, 1686, 2120, 2625], "oceania": [12, 15, 19, 22.5]}
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.stackplot(year, population.values(), labels=population.keys(), alpha=0.8)
ax.legend(loc='upper left', reverse=True)
ax.set_title('World population')
ax.set_xlabel('Year')
plt.show()
# %% expected
p = list(population.values())
expected = [{"kind": "area", "title": "World population", "stacking": "stacked", "x": {"label": "Year"}, "series": [
    {"kind": "area", "label": "africa", "columns": {"x": year, "y": p[0]}},
    {"kind": "area", "label": "asia", "columns": {"x": year, "y": p[1], "y_base": p[0]}},
    {"kind": "area", "label": "oceania", "columns": {"x": year, "y": p[2], "y_base": [a + b for a, b in zip(p[0], p[1])]}}]}]
