# %% data
days = ["mon", "tue", "wed", "thu", "fri"]
visits = [320, 280, 410, 390, 500]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 4))
ax.bar(days, visits, color="lightcoral")
# Only the first and the last day get a label
ax.set_xticks([0, 4])
ax.set_xticklabels(["Start of week", "End of week"])
ax.set_ylabel("Visits")
ax.set_title("Visits in week 12")
best = max(range(len(visits)), key=visits.__getitem__)
ax.annotate("best day", xy=(best, visits[best]), xytext=(best - 1.2, visits[best] + 20),
            arrowprops=dict(arrowstyle="->"))
ax.set_ylim(0, 560)
plt.tight_layout()
plt.show()
# %% expected
shown = ["Start of week", *days[1:-1], "End of week"]
expected = [{"kind": "bar", "title": "Visits in week 12", "x": {"scale": "category"},
    "annotations": [{"text": "best day"}], "series": [{"kind": "bar", "columns": {"x": shown, "y": visits}}]}]
