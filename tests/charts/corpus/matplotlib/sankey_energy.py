# %% data
flows = [0.8, 0.2, -0.5, -0.3, -0.2]
labels = ["Fossil", "Solar", "Heat", "Power", "Loss"]
# %% program
import matplotlib.pyplot as plt
from matplotlib.sankey import Sankey

fig = plt.figure(figsize=(7, 5))
ax = fig.add_subplot(1, 1, 1, xticks=[], yticks=[], title="Energy flow")
sankey = Sankey(ax=ax, scale=0.5, offset=0.25, format="%.1f", unit=" GW")
sankey.add(flows=flows, labels=labels, orientations=[0, 1, 0, 1, -1], facecolor="lightblue")
diagrams = sankey.finish()
diagrams[0].patch.set_hatch("/")
plt.show()
# %% expected
expected = [{"kind": "other", "title": "Energy flow", "unread": ["1 shape"], "series": [],
    "annotations": [{"text": f"{n}\n{abs(f):.1f} GW"} for n, f in zip(labels, flows)]}]
