# %% data
rows = ["2022", "2023"]
cols = ["Wind", "Solar", "Hydro"]
cells = [[12, 30, 7], [15, 42, 8]]
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 5))
x = range(len(cols))
ax.bar([i - 0.2 for i in x], cells[0], width=0.4, label=rows[0])
ax.bar([i + 0.2 for i in x], cells[1], width=0.4, label=rows[1])
ax.table(cellText=cells, rowLabels=rows, colLabels=cols, loc="bottom", cellLoc="center")
ax.set_xticks([])
ax.set_ylabel("TWh")
ax.set_title("Renewable energy")
ax.legend()
plt.subplots_adjust(left=0.2, bottom=0.2)
plt.show()
# %% expected
expected = [{"kind": "bar", "title": "Renewable energy", "stacking": "grouped", "y": {"label": "TWh"},
    "series": [{"kind": "bar", "label": "2022", "columns": {"y": cells[0]}}, {"kind": "bar", "label": "2023", "columns": {"y": cells[1]}},
               {"kind": "other", "columns": {"row": rows, **{c: [str(line[i]) for line in cells] for i, c in enumerate(cols)}}}]}]
