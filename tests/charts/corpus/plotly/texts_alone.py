# %% data
places = {"Harbour": (1.0, 2.0), "Market": (3.0, 1.5), "Castle": (2.2, 3.8)}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(
    go.Scatter(
        x=[0, 1, 2, 3, 4],
        y=[1, 2, 3.5, 2, 1],
        mode="lines",
        name="walk",
    )
)
fig.add_trace(
    go.Scatter(
        x=[x for x, _ in places.values()],
        y=[y for _, y in places.values()],
        text=list(places),
        mode="text",
        name="places",
        textfont=dict(size=14),
    )
)
fig.update_layout(title="A walk", showlegend=False)
fig.show()

# %% expected
expected = [{"kind": "line", "title": "A walk", "annotations": [{"text": n} for n in places], "series": [
    {"kind": "line", "label": "walk", "columns": {"x": [0, 1, 2, 3, 4], "y": [1, 2, 3.5, 2, 1]}}]}]
