# %% data
steps = ["start", "sales", "costs", "tax", "end"]
delta = [100, 50, -30, -20, 0]
base = [0, 100, 150, 120, 0]
height = [100, 50, -30, -20, 100]
# %% program
import matplotlib.pyplot as plt
plt.bar(steps, height, bottom=base, color="teal")
plt.title("Waterfall")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Waterfall", "stacking": None, "series": [{"kind": "bar", "columns": {"x": steps, "y": height, "base": base}}]}]
