# %% data
scores = [3.2, 4.1, 2.8]
levels = {1: "low", 2: "middle", 3: "high"}

# %% program
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, show

source = ColumnDataSource(data=dict(level=[1, 2, 3], score=scores))
p = figure(title="Score by level", y_range=(0.5, 3.5), height=250)
p.hbar(
    y="level",
    right="score",
    height=0.6,
    source=source,
    fill_color="#718dbf",
)
p.yaxis.major_label_overrides = levels
p.yaxis.axis_label = "Level"
p.xaxis.axis_label = "Score"
show(p)

# %% expected
names = list(levels.values())
expected = [{"kind": "bar", "orientation": "horizontal", "y": {"label": "Level", "scale": "category", "ticks": names},
             "x": {"label": "Score"}, "series": [{"kind": "bar", "columns": {"y": names, "x": scores}}]}]
