# %% data
import numpy as np
x = np.arange(6)
data = {"x": x, "a": x * 1.0, "b": x + 2.0, "c": 6.0 - x}

# %% program
from bokeh.plotting import figure, show

p = figure(title="Stack")
p.varea_stack(["a", "b", "c"], x="x", color=["red", "green", "blue"], legend_label=["a", "b", "c"], source=data)
show(p)
q = figure()
q.varea(x=x, y1=x - 1, y2=x + 1, fill_alpha=0.3)
q.line(x, x)
show(q)

# %% expected
a, b, c = data["a"], data["b"], data["c"]
expected = [
    {"kind": "area", "stacking": "stacked", "series": [
        {"kind": "area", "label": "a", "columns": {"x": x, "y": a}},
        {"kind": "area", "label": "b", "columns": {"x": x, "y": b, "y_base": a}},
        {"kind": "area", "label": "c", "columns": {"x": x, "y": c, "y_base": a + b}}]},
    {"kind": "line", "series": [{"kind": "area", "columns": {"x": x, "y": x + 1, "y_base": x - 1}},
                                {"kind": "line", "columns": {"x": x, "y": x}}]},
]
