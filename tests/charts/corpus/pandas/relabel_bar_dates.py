# %% data
import pandas as pd
series = pd.Series([10, 14, 9, 20], index=pd.date_range("2024-01-31", periods=4, freq="ME"), name="orders")
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 4))
series.plot(kind="bar", ax=ax, color="cadetblue", width=0.7)
ax.set_xticklabels([d.strftime("%b %Y") for d in series.index], rotation=0)
ax.set_xlabel("Month")
ax.set_ylabel("Orders")
ax.set_title("Orders per month")
ax.bar_label(ax.containers[0])
ax.axhline(series.mean(), color="black", linestyle="--", linewidth=1, label="Average")
ax.legend()
plt.tight_layout()
plt.show()
# %% expected
# pandas 3 draws bars of dates on a time axis with one tick, which alone takes a label.
names = [d.date().isoformat() for d in series.index]
expected = [{"kind": "bar", "title": "Orders per month", "x": {"label": "Month", "scale": "datetime"},
    "annotations": [{"text": str(v)} for v in series],
    "series": [{"kind": "bar", "columns": {"x": names, "y": series.tolist()}}, {"kind": "rule", "label": "Average", "columns": {"y": [13.25]}}]}]
