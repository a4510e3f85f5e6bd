# %% data
x = list(range(8))
y = [3, 5, 4, 8, 7, 6, 9, 10]

# %% program
import plotly.express as px

fig = px.line(x=x, y=y, markers=True)
fig.add_hline(y=6, line_dash="dash", line_color="red", annotation_text="target")
fig.add_vline(x=4, line_width=2)
fig.add_annotation(x=7, y=10, text="peak", showarrow=True)
fig.show()

# %% expected
expected = [{"kind": "line", "x": {"label": "x"}, "y": {"label": "y"},
             "annotations": [{"text": "target"}, {"text": "peak"}],
             "series": [
    {"kind": "line", "columns": {"x": x, "y": y}},
    {"kind": "rule", "color": "#ff0000", "columns": {"y": [6]}},
    {"kind": "rule", "columns": {"x": [4]}},
]}]
