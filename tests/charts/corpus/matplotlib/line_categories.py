# %% data
months = ["Jan", "Feb", "Mar", "Apr", "May"]
sales = [120, 135.5, 128, 150, 162.25]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(8, 5))
ax.plot(months, sales, marker='o', linestyle='-', color='#2ca02c', label='Sales')
ax.set_title('Monthly Sales')
ax.set_ylabel('USD (k)')
for m, s in zip(months, sales):
    ax.annotate(f"{s}", (m, s), textcoords="offset points", xytext=(0, 8), ha="center")
ax.legend()
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Monthly Sales", "x": {"scale": "category", "ticks": months},
    "y": {"label": "USD (k)"},
    "series": [{"kind": "line", "label": "Sales", "color": "#2ca02c", "columns": {"x": months, "y": sales}}],
    "annotations": [{"text": str(s)} for s in sales]}]
