# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(342)
df = pd.DataFrame({"day": np.arange(12), "value": rng.normal(50, 5, 12)})

# %% program
import plotly.express as px

fig = px.scatter(
    df,
    x="day",
    y="value",
    trendline="rolling",
    trendline_options=dict(window=3),
    trendline_color_override="red",
    title="Rolling mean",
)
fig.update_layout(xaxis_title="Day", yaxis_title="Value")
fig.show()

# %% expected
mean = [None] * 2 + [float(df.value[i - 2:i + 1].mean()) for i in range(2, 12)]
expected = [{"kind": "scatter", "title": "Rolling mean", "series": [
    {"kind": "scatter", "columns": {"x": df.day, "y": df.value}},
    {"kind": "line", "color": "#ff0000", "columns": {"x": df.day, "y": mean}}]}]
