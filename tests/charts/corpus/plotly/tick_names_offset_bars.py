# %% data
import numpy as np
teams = ["Alpha", "Beta", "Gamma", "Delta"]
wins = [12, 9, 15, 7]
losses = [4, 8, 2, 10]

# %% program
import plotly.graph_objects as go

position = np.arange(len(teams))
width = 0.35

fig = go.Figure(
    data=[
        go.Bar(name="Wins", x=position - width / 2, y=wins, width=width, marker_color="#2ca02c"),
        go.Bar(name="Losses", x=position + width / 2, y=losses, width=width, marker_color="#d62728"),
    ]
)
fig.update_layout(
    barmode="overlay",
    title="Season record",
    xaxis=dict(tickmode="array", tickvals=position, ticktext=teams),
    yaxis=dict(title="Games"),
    legend=dict(orientation="h", y=1.1),
)
fig.show()

# %% expected
expected = [{"kind": "bar", "title": "Season record", "x": {"scale": "category", "ticks": teams}, "series": [
    {"kind": "bar", "label": "Wins", "color": "#2ca02c", "columns": {"x": teams, "y": wins}},
    {"kind": "bar", "label": "Losses", "color": "#d62728", "columns": {"x": teams, "y": losses}}]}]
