# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
df = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=40), "a": rng.normal(size=40).cumsum(), "b": rng.normal(size=40)})

# %% program
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, output_notebook, show

output_notebook()
source = ColumnDataSource(df)
p = figure(x_axis_type="datetime", width=800, height=300, title="Prices")
p.line("date", "a", source=source, color="navy", legend_label="A")
p.line("date", "b", source=source, color="firebrick", legend_label="B")
p.xaxis.axis_label = "Date"
show(p)

# %% expected
days = [d.strftime("%Y-%m-%d") for d in df.date]
expected = [{"kind": "line", "title": "Prices", "x": {"label": "Date", "scale": "datetime"}, "series": [
    {"kind": "line", "label": "A", "color": "#000080", "columns": {"x": days, "y": df.a}},
    {"kind": "line", "label": "B", "color": "#b22222", "columns": {"x": days, "y": df.b}}]}]
