# %% data
positions = [0.5, 1.25, 1.5, 3.0]
# %% program
import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4))
left.eventplot(positions, orientation="vertical", color="black", linewidths=1.5)
left.set_title("Arrivals")
left.set_ylabel("Minutes")
left.set_xticks([])
gaps = [b - a for a, b in zip(positions, positions[1:])]
right.bar(range(1, len(gaps) + 1), gaps, color="tan")
right.set_title("Gaps")
right.set_ylabel("Minutes")
right.set_xlabel("Gap")
fig.suptitle("Arrivals and gaps")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "multi", "title": "Arrivals and gaps", "charts": [
    {"kind": "scatter", "title": "Arrivals", "y": {"label": "Minutes"}, "series": [{"kind": "scatter", "columns": {"x": [1] * 4, "y": positions}}]},
    {"kind": "bar", "title": "Gaps", "series": [{"kind": "bar", "columns": {"x": [1, 2, 3], "y": [0.75, 0.25, 1.5]}}]}]}]
