# %% data
x = [1, 2, 3, 4]
y = [10, 20, 15, 5]

# %% program
from bokeh.models import CDSView, ColumnDataSource, CustomJSFilter
from bokeh.plotting import figure, show

source = ColumnDataSource(dict(x=x, y=y))
keep = CustomJSFilter(
    code="""
    const indices = []
    for (let i = 0; i < source.get_length(); i++) {
        if (source.data['y'][i] > 8) { indices.push(i) }
    }
    return indices
"""
)
p = figure(title="What JavaScript keeps", height=300)
p.line(x, y, color="lightgrey")
p.scatter("x", "y", source=source, view=CDSView(filter=keep), size=10)
show(p)

# %% expected
expected = [{"kind": "line", "title": "What JavaScript keeps", "unread": ["JavaScript"], "series": [
    {"kind": "line", "columns": {"x": x, "y": y}}, {"kind": "scatter", "columns": {}}]}]
