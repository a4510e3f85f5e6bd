# %% data
fruits = ["Apple", "Banana", "Cherry", "Date"]
counts = [23, 17, 35, 29]
# %% program
import matplotlib.pyplot as plt
plt.figure(figsize=(8, 5))
bars = plt.bar(fruits, counts, color=["red", "yellow", "pink", "brown"])
plt.bar_label(bars)
plt.title("Fruit counts")
plt.xlabel("Fruit")
plt.ylabel("Count")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Fruit counts", "orientation": "vertical", "stacking": None,
    "x": {"label": "Fruit", "scale": "category", "ticks": fruits}, "y": {"label": "Count", "scale": "linear"},
    "series": [{"kind": "bar", "label": None, "color": None, "columns": {"x": fruits, "y": counts}}]}]
