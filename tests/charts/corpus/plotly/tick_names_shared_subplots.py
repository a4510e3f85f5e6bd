# %% data
stations = ["North", "South", "East"]
rain = [120.5, 98.1, 143.0]
sun = [1450, 1720, 1390]

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05,
                    subplot_titles=("Rain", "Sunshine"))
fig.add_trace(go.Bar(x=[1, 2, 3], y=rain, name="Rain"), row=1, col=1)
fig.add_trace(go.Bar(x=[1, 2, 3], y=sun, name="Sunshine"), row=2, col=1)
fig.update_xaxes(tickvals=[1, 2, 3], ticktext=stations, title_text="Station", row=2, col=1)
fig.update_yaxes(title_text="mm", row=1, col=1)
fig.update_yaxes(title_text="hours", row=2, col=1)
fig.update_layout(height=600, showlegend=False, title_text="Climate")
fig.show()

# %% expected
# The names are written below, and stand for both panels.
expected = [{"kind": "multi", "title": "Climate", "charts": [
    {"kind": "bar", "title": t, "row": r, "column": 0, "x": {"scale": "category", "ticks": stations}, "y": {"label": u},
     "series": [{"kind": "bar", "columns": {"x": stations, "y": v}}]}
    for r, (t, u, v) in enumerate([("Rain", "mm", rain), ("Sunshine", "hours", sun)])]}]
