# %% data
import pandas as pd
df = pd.DataFrame({"Model": ["Logistic", "Forest", "Boosting"], "AUC": [0.81, 0.88, 0.9], "Time (s)": [1.2, 14.0, 9.5]})
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 2))
ax.axis("off")
table = ax.table(cellText=df.values, colLabels=df.columns, cellLoc="center", loc="center")
table.auto_set_font_size(False)
table.set_fontsize(11)
table.scale(1, 1.5)
for (row, col), cell in table.get_celld().items():
    if row == 0:
        cell.set_text_props(weight="bold")
ax.set_title("Model comparison")
plt.tight_layout()
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Model comparison", "series": [{"kind": "other", "columns": {c: [str(v) for v in df[c]] for c in df}}]}]
