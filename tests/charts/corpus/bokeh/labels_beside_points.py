# %% data
names = ["Mark", "Amir", "Matt", "Greg"]
height, weight = [66, 71, 72, 68], [165, 189, 220, 141]

# %% program
from bokeh.models import ColumnDataSource, LabelSet, Title
from bokeh.plotting import figure, show

source = ColumnDataSource(data=dict(height=height, weight=weight, names=names))
p = figure(title="Players", x_range=(140, 275))
p.scatter(x="weight", y="height", size=8, source=source)
p.xaxis.axis_label = "Weight (lbs)"
p.yaxis.axis_label = "Height (in)"
labels = LabelSet(x="weight", y="height", text="names", x_offset=5, y_offset=5, source=source)
p.add_layout(labels)
p.add_layout(Title(text="Season 2024", text_font_style="italic"), "above")
show(p)

# %% expected
expected = [{"kind": "scatter", "title": "Players", "annotations": [{"text": n} for n in [*names, "Season 2024"]],
             "series": [{"kind": "scatter", "columns": {"x": weight, "y": height}}]}]
