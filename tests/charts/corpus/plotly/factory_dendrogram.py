# %% data
import numpy as np
points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 7.0]])
names = ["ash", "birch", "cedar", "dogwood"]

# %% program
import plotly.figure_factory as ff

fig = ff.create_dendrogram(points, labels=names)
fig.update_layout(
    title="Trees",
    width=600,
    height=400,
    yaxis_title="Distance",
)
fig.update_xaxes(tickangle=0)
fig.show()

# %% expected
# Complete linkage: ash and birch at 1, cedar and dogwood at 2, both at the largest distance.
far = float(np.hypot(5, 7))
expected = [{"kind": "line", "title": "Trees", "y": {"label": "Distance"}, "x": {"scale": "linear", "ticks": [5, 15, 25, 35], "tick_labels": names},
             "series": [{"kind": "line", "columns": {"x": x, "y": y}} for x, y in (
                 ([5, 5, 15, 15], [0, 1, 1, 0]), ([25, 25, 35, 35], [0, 2, 2, 0]), ([10, 10, 30, 30], [1, far, far, 2]))]}]
