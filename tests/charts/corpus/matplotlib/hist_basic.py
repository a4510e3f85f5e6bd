# %% data
import numpy as np
rng = np.random.default_rng(42)
data = rng.normal(100, 15, 1000)
# %% program
import matplotlib.pyplot as plt
plt.figure(figsize=(8, 5))
plt.hist(data, bins=30, color="skyblue", edgecolor="black", alpha=0.7)
plt.axvline(data.mean(), color="red", linestyle="dashed", label="mean")
plt.title("Distribution")
plt.xlabel("Score")
plt.ylabel("Frequency")
plt.legend()
plt.show()
# %% expected
count, edges = np.histogram(data, bins=30)
expected = [{"kind": "histogram", "title": "Distribution", "orientation": "vertical", "stacking": None, "x": {"label": "Score"}, "y": {"label": "Frequency"}, "series": [
    {"kind": "histogram", "label": None, "color": "#87ceeb", "columns": {"start": edges[:-1], "end": edges[1:], "count": count}},
    {"kind": "rule", "label": "mean", "columns": {"x": [data.mean()]}}]}]
