# %% data
import numpy as np
days = np.arange("2021-02-25", "2021-03-05", dtype="datetime64[D]")
price = np.array([10.5, 10.7, 10.4, 10.9, 11.0, 11.2, 10.8, 10.95])
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(days, price)
ax.fill_between(days, price - 0.1, price + 0.1, alpha=0.3)
ax.set_title("Price")
plt.show()
# %% expected
x = [str(d) for d in days]
expected = [{"kind": "line", "x": {"scale": "datetime"}, "series": [
    {"kind": "line", "columns": {"x": x, "y": price}},
    {"kind": "area", "columns": {"x": x, "y": price + 0.1, "y_base": price - 0.1}}]}]
