# %% data
outer = [60, 32, 29]
inner = [40, 20, 22, 10, 19, 10]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.pie(outer, radius=1, labels=["A", "B", "C"], wedgeprops=dict(width=0.3, edgecolor='w'))
ax.pie(inner, radius=0.7, wedgeprops=dict(width=0.3, edgecolor='w'))
ax.set(aspect="equal", title='Nested')
plt.show()
# %% expected
expected = [{"kind": "pie", "title": "Nested", "series": [
    {"kind": "pie", "columns": {"label": ["A", "B", "C"], "value": outer}},
    {"kind": "pie", "columns": {"value": inner}}]}]
