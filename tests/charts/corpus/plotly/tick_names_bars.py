# %% data
survived = {0: 549, 1: 342}
names = {0: "Died", 1: "Survived"}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(
    go.Bar(
        x=list(survived.keys()),
        y=list(survived.values()),
        marker_color=["indianred", "seagreen"],
        text=list(survived.values()),
        textposition="outside",
    )
)
fig.update_layout(
    title="Passengers by outcome",
    xaxis=dict(
        title="Outcome",
        tickmode="array",
        tickvals=list(names.keys()),
        ticktext=list(names.values()),
    ),
    yaxis_title="Passengers",
    template="plotly_white",
)
fig.show()

# %% expected
written = [names[k] for k in survived]
expected = [{"kind": "bar", "title": "Passengers by outcome",
             "x": {"label": "Outcome", "scale": "category", "ticks": ["Died", "Survived"]},
             "series": [{"kind": "bar", "columns": {"x": written, "y": [549, 342]}}]}]
