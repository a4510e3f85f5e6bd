# %% data
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 3, 4, 5, 6], "y": [5, 3, 8, 6, 7, 2], "kind": ["a", "a", "b", "b", "a", "b"]})

# %% program
from bokeh.models import BooleanFilter, CDSView, ColumnDataSource, GroupFilter, IndexFilter
from bokeh.plotting import figure, show

source = ColumnDataSource(df)
large = BooleanFilter([value > 4 for value in source.data["y"]])
of_a = GroupFilter(column_name="kind", group="a")
p = figure(title="Filtered", height=300)
p.scatter("x", "y", source=source, view=CDSView(filter=large & of_a), size=10, legend_label="large a")
p.scatter("x", "y", source=source, view=CDSView(filter=large | of_a), size=6, color="red", legend_label="large or a")
p.scatter("x", "y", source=source, view=CDSView(filter=~of_a), color="green", legend_label="not a")
p.scatter("x", "y", source=source, view=CDSView(filter=IndexFilter([0, 5])), color="black", legend_label="ends")
show(p)

# %% expected
large, a = df.y > 4, df.kind == "a"
expected = [{"kind": "scatter", "series": [{"kind": "scatter", "label": n, "columns": {"x": df.x[m], "y": df.y[m]}} for n, m in (
    ("large a", large & a), ("large or a", large | a), ("not a", ~a), ("ends", df.index.isin([0, 5])))]}]
