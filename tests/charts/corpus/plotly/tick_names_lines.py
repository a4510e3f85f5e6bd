# %% data
import numpy as np
rng = np.random.default_rng(301)
visits = {"web": rng.integers(100, 900, 7), "app": rng.integers(50, 700, 7)}
days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for source, counts in visits.items():
    fig.add_trace(
        go.Scatter(
            x=np.arange(7),
            y=counts,
            mode="lines+markers",
            name=source.title(),
            line=dict(width=2),
        )
    )
fig.update_xaxes(tickvals=np.arange(7), ticktext=days, title_text="Weekday")
fig.update_yaxes(title_text="Visits", rangemode="tozero", gridcolor="lightgrey")
fig.update_layout(title_text="Visits by weekday", legend_title_text="Source", hovermode="x unified")
fig

# %% expected
expected = [{"kind": "line", "x": {"label": "Weekday", "scale": "category", "ticks": days}, "series": [
    {"kind": "line", "label": "Web", "columns": {"x": days, "y": visits["web"]}},
    {"kind": "line", "label": "App", "columns": {"x": days, "y": visits["app"]}}]}]
