# %% data
import numpy as np
grid = np.array([[1, 20, 30, 50], [20, 1, 60, 80], [30, 60, 1, 5]])
days, periods = ["Mon", "Tue", "Wed"], ["Night", "Morning", "Noon", "Evening"]

# %% program
import plotly.express as px

fig = px.imshow(
    grid,
    labels=dict(x="Time of day", y="Day of week", color="Productivity"),
    x=periods,
    y=days,
    text_auto=True,
    aspect="auto",
    color_continuous_scale="Viridis",
)
fig.update_xaxes(side="top")
fig.update_layout(title="When work gets done")
fig.show()

# %% expected
expected = [{"kind": "heatmap", "x": {"label": "Time of day", "scale": "category", "ticks": periods},
             "y": {"label": "Day of week", "ticks": days}, "z": {"label": "Productivity"},
             "series": [{"kind": "heatmap", "columns": {"x": periods, "y": days, "z": grid}}]}]
