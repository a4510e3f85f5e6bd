# %% data
import pandas as pd
df = pd.DataFrame([(d, h, (i + 1) * (j + 2)) for i, d in enumerate(["Mon", "Tue"]) for j, h in enumerate(["am", "pm", "night"])],
                  columns=["day", "part", "visits"])

# %% program
from bokeh.models import BasicTicker, PrintfTickFormatter
from bokeh.plotting import figure, show
from bokeh.transform import linear_cmap

days, parts = ["Mon", "Tue"], ["night", "pm", "am"]
p = figure(title="Visits", x_range=days, y_range=parts, x_axis_location="above", width=500, height=400)
r = p.rect(x="day", y="part", width=1, height=1, source=df, line_color=None,
           fill_color=linear_cmap("visits", "Magma256", low=df.visits.min(), high=df.visits.max()))
p.add_layout(
    r.construct_color_bar(
        title="Number of visits",
        ticker=BasicTicker(desired_num_ticks=5),
        formatter=PrintfTickFormatter(format="%d"),
    ),
    "right",
)
show(p)

# %% expected
z = [[int(df[(df.day == d) & (df.part == h)].visits.iloc[0]) for d in ("Mon", "Tue")] for h in ("night", "pm", "am")]
expected = [{"kind": "heatmap", "title": "Visits", "x": {"ticks": ["Mon", "Tue"]}, "y": {"ticks": ["night", "pm", "am"]},
             "z": {"label": "Number of visits"},
             "series": [{"kind": "heatmap", "columns": {"x": ["Mon", "Tue"], "y": ["night", "pm", "am"], "z": z}}]}]
