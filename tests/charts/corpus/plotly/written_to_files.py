# %% data
x = ["a", "b", "c"]
y = [3, 1, 2]

# %% program
import plotly.graph_objects as go
import plotly.io as pio

pio.templates["mine"] = go.layout.Template(layout=dict(colorway=["#ff8800"], barmode="stack"))
pio.templates.default = "plotly+mine"

fig = go.Figure()
fig.add_bar(x=x, y=y, name="one")
fig.add_bar(x=x, y=[1, 1, 1], name="two")
fig.update_layout(title="Saved", xaxis_title="Letter")
text = fig.to_json()
page = fig.to_html(full_html=False, include_plotlyjs="cdn")
assert "Saved" in page and "Letter" in text
fig.show()

# %% expected
expected = [{"kind": "bar", "title": "Saved", "stacking": "stacked", "x": {"label": "Letter"}, "series": [
    {"kind": "bar", "label": "one", "color": "#ff8800", "columns": {"x": x, "y": y}},
    {"kind": "bar", "label": "two", "columns": {"x": x, "y": [1, 1, 1], "base": y}}]}]
