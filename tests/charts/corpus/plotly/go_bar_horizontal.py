# %% data
names = ["Python", "Java", "C++", "Go"]
values = [31.2, 18.5, 9.75, 4.0]

# %% program
import plotly.graph_objects as go

fig = go.Figure(go.Bar(x=values, y=names, orientation="h", marker_color="teal"))
fig.update_layout(title={"text": "<b>Languages</b>", "x": 0.5}, xaxis_title="Share (%)")
fig.show()

# %% expected
expected = [{
    "kind": "bar", "title": "Languages", "orientation": "horizontal", "stacking": None,
    "x": {"label": "Share (%)", "scale": "linear"}, "y": {"label": None, "scale": "category"},
    "series": [{"kind": "bar", "color": "#008080", "columns": {"x": values, "y": names}}],
}]
