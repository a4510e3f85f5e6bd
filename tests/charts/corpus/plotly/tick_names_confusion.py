# %% data
import numpy as np
truth = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
guess = np.array([0, 0, 1, 1, 1, 2, 2, 2, 0, 2])
classes = ["cat", "dog", "bird"]

# %% program
import plotly.graph_objects as go

matrix = np.zeros((3, 3), dtype=int)
for t, p in zip(truth, guess):
    matrix[t, p] += 1

fig = go.Figure(
    data=go.Heatmap(
        z=matrix,
        colorscale="Blues",
        text=matrix,
        texttemplate="%{text}",
        colorbar=dict(title="Count"),
    )
)
fig.update_layout(
    title="Confusion matrix",
    xaxis=dict(title="Predicted", tickvals=list(range(3)), ticktext=classes),
    yaxis=dict(title="Actual", tickvals=list(range(3)), ticktext=classes, autorange="reversed"),
)
fig.show()

# %% expected
counts = [[sum((a, b) == (i, j) for a, b in zip(truth, guess)) for j in range(3)] for i in range(3)]
expected = [{"kind": "heatmap", "title": "Confusion matrix", "z": {"label": "Count"},
             "x": {"label": "Predicted", "scale": "category", "ticks": classes},
             "y": {"label": "Actual", "scale": "category", "ticks": classes},
             "series": [{"kind": "heatmap", "columns": {"x": classes, "y": classes, "z": counts}}]}]
