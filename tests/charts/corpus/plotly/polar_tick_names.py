# %% data
strength = [3.0, 4.5, 2.0, 5.0]
winds = ["N", "E", "S", "W"]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    go.Barpolar(
        r=strength,
        theta=[0, 90, 180, 270],
        width=[40] * 4,
        marker_color=["#E4FF87", "#709BFF", "#FFAA70", "#B6FFB4"],
        name="Wind",
    )
)
fig.update_layout(
    title="Wind",
    polar=dict(
        radialaxis=dict(range=[0, 5], showticklabels=False, ticks=""),
        angularaxis=dict(
            tickmode="array",
            tickvals=[0, 90, 180, 270],
            ticktext=winds,
            direction="clockwise",
            rotation=90,
        ),
    ),
)
fig.show()

# %% expected
expected = [{"kind": "polar", "title": "Wind", "series": [{"kind": "bar", "label": "Wind", "columns": {"theta": winds, "r": strength}}]}]
