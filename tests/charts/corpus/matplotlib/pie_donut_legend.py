# %% data
shares = {"Chrome": 65.3, "Safari": 18.8, "Edge": 5.0, "Firefox": 3.1}
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(6, 6))
wedges, texts = ax.pie(list(shares.values()), wedgeprops=dict(width=0.4, edgecolor="w"))
ax.legend(wedges, shares.keys(), title="Browser", loc="center left", bbox_to_anchor=(1, 0, 0.5, 1))
plt.title("Donut")
plt.savefig("donut.png")
# %% expected
expected = [{"kind": "pie", "title": "Donut", "series": [{"kind": "pie", "columns": {"label": list(shares), "value": list(shares.values())}}]}]
