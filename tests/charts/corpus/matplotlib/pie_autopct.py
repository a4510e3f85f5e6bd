# %% data
labels = ["Rent", "Food", "Transport", "Fun"]
sizes = [45, 25.5, 15, 14.5]
# %% program
import matplotlib.pyplot as plt
explode = (0.1, 0, 0, 0)
fig, ax = plt.subplots()
ax.pie(sizes, explode=explode, labels=labels, autopct='%1.1f%%', shadow=True, startangle=90)
ax.axis('equal')
ax.set_title("Budget")
plt.show()
# %% expected
expected = [{"kind": "pie", "title": "Budget", "annotations": [], "series": [{"kind": "pie", "columns": {"label": labels, "value": sizes}}]}]
