# %% data
names = ["iron", "copper", "zinc", "nickel"]
price = [110, 8400, 2500, 16000]
# %% program
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MultipleLocator

fig, ax = plt.subplots(figsize=(7, 4))
ax.bar(range(len(names)), price, log=True, color="goldenrod")
ax.xaxis.set_major_locator(MultipleLocator(1))
ax.xaxis.set_major_formatter(
    FuncFormatter(lambda x, pos: names[int(x)] if 0 <= int(x) < len(names) and x == int(x) else "")
)
ax.set_ylabel("USD per tonne")
ax.set_title("Metal prices")
ax.grid(axis="y", which="both", alpha=0.2)
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Metal prices", "x": {"scale": "category", "ticks": names}, "y": {"label": "USD per tonne", "scale": "log"},
    "series": [{"kind": "bar", "columns": {"x": names, "y": price}}]}]
