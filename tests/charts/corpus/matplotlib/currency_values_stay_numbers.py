# %% data
months = ["Jan", "Feb", "Mar", "Apr"]
sales = [1000, 2000, 3000, 2000]
costs = [800, 1000, 2000, 1000]
# %% program
import matplotlib.pyplot as plt
import matplotlib.ticker as mtick

fig, ax = plt.subplots()
ax.plot(months, sales, marker="o", label="Sales")
ax.plot(months, costs, marker="o", label="Costs")
ax.yaxis.set_major_locator(mtick.MultipleLocator(1000))
ax.yaxis.set_major_formatter(mtick.FuncFormatter(lambda v, _: f"${v:,.0f}"))
ax.set_ylim(0, 3500)
ax.set_title("Sales and costs")
ax.set_ylabel("Amount")
ax.legend()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Sales and costs", "x": {"scale": "category", "ticks": months},
    "y": {"label": "Amount", "scale": "linear", "ticks": [0, 1000, 2000, 3000], "tick_labels": ["$0", "$1,000", "$2,000", "$3,000"]},
    "series": [{"kind": "line", "label": "Sales", "columns": {"x": months, "y": sales}},
               {"kind": "line", "label": "Costs", "columns": {"x": months, "y": costs}}]}]
