# %% data
import pandas as pd
df = pd.DataFrame({"group": ["a", "b", "c"], "mean": [5.0, 7.0, 6.0], "sd": [1.0, 0.5, 1.5]})

# %% program
from bokeh.models import ColumnDataSource, Whisker
from bokeh.plotting import figure, show

df["lower"], df["upper"] = df["mean"] - df["sd"], df["mean"] + df["sd"]
source = ColumnDataSource(df)
p = figure(x_range=list(df["group"]), title="Means with one standard deviation", height=300)
p.vbar(x="group", top="mean", width=0.6, source=source, color="lightblue")
p.add_layout(
    Whisker(source=source, base="group", upper="upper", lower="lower", level="overlay")
)
p.y_range.start = 0
p.yaxis.axis_label = "Mean"
show(p)

# %% expected
expected = [{"kind": "bar", "y": {"label": "Mean"}, "series": [
    {"kind": "bar", "columns": {"x": df.group, "y": df["mean"]}},
    {"kind": "errorbar", "columns": {"x": df.group, "y_low": df["mean"] - df.sd, "y_high": df["mean"] + df.sd}}]}]
