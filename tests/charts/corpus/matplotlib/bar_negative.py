# %% data
quarters = ["Q1", "Q2", "Q3", "Q4"]
profit = [12.5, -3.2, -7.75, 9.0]
# %% program
import matplotlib.pyplot as plt
colors = ["green" if p >= 0 else "red" for p in profit]
plt.bar(quarters, profit, color=colors)
plt.axhline(0, color="black", linewidth=0.8)
plt.title("Profit/Loss")
plt.ylabel("M€")
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Profit/Loss", "y": {"label": "M€"}, "series": [
    {"kind": "bar", "columns": {"x": quarters, "y": profit}}, {"kind": "rule", "columns": {"y": [0]}}]}]
