# %% data
import numpy as np
hour = np.arange(0, 24, 0.5)
load = 40 + 25 * np.sin((hour - 6) / 24 * 2 * np.pi)
marks = {0: "midnight", 6: "sunrise", 12: "noon", 18: "sunset"}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=hour, y=load, mode="lines", name="load", line_color="firebrick"))
fig.update_layout(
    title="Load over a day",
    xaxis=dict(
        title="Time of day",
        tickmode="array",
        tickvals=list(marks),
        ticktext=list(marks.values()),
        range=[0, 24],
    ),
    yaxis=dict(title="Load (MW)", zeroline=False),
    width=800,
    height=400,
)
fig.show()

# %% expected
# Most points lie between the names: their places stay numbers, and the axis says what is written where.
expected = [{"kind": "line", "x": {"label": "Time of day", "scale": "linear", "limits": [0, 24],
             "ticks": [0, 6, 12, 18], "tick_labels": ["midnight", "sunrise", "noon", "sunset"]},
             "series": [{"kind": "line", "columns": {"x": hour, "y": load}}]}]
