# %% data
import numpy as np
x = np.linspace(0, 10, 50)
y1 = np.sin(x)
y2 = np.cos(x)
# %% program
import matplotlib.pyplot as plt

plt.figure(figsize=(10, 6))
plt.plot(x, y1, label="sin(x)", color="blue", linewidth=2)
plt.plot(x, y2, label="cos(x)", color="red", linestyle="--")
plt.title("Sine and Cosine")
plt.xlabel("x")
plt.ylabel("value")
plt.legend()
plt.grid(True)
plt.show()
# %% expected
expected = [{
    "kind": "line", "library": "matplotlib", "title": "Sine and Cosine", "stacking": None,
    "x": {"label": "x", "scale": "linear"}, "y": {"label": "value", "scale": "linear"},
    "series": [
        {"kind": "line", "label": "sin(x)", "color": "#0000ff", "columns": {"x": x, "y": y1}},
        {"kind": "line", "label": "cos(x)", "color": "#ff0000", "columns": {"x": x, "y": y2}},
    ],
}]
