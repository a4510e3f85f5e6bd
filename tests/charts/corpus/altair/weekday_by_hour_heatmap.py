# %% data
import numpy as np
import pandas as pd
t = pd.date_range("2024-01-01", periods=14 * 4, freq="6h")
df = pd.DataFrame({"time": t, "load": np.arange(56.0)})

# %% program
import altair as alt

alt.Chart(df).mark_rect().encode(
    x=alt.X("hours(time):O").title("Hour of day"),
    y=alt.Y("day(time):O").title("Day of week"),
    color=alt.Color("mean(load):Q").scale(scheme="blues").title("Load"),
).properties(
    title="Load over the week",
    width=alt.Step(20),
    height=alt.Step(20),
)

# %% expected
days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
hours = [0, 6, 12, 18]
means = df.groupby([df.time.dt.strftime("%a"), df.time.dt.hour]).load.mean()
expected = [{"kind": "heatmap", "x": {"label": "Hour of day", "ticks": [f"{h:02d}:00" for h in hours]},
             "y": {"label": "Day of week", "ticks": days}, "z": {"label": "Load"}, "series": [
    {"kind": "heatmap", "columns": {"x": [f"{h:02d}:00" for h in hours], "y": days, "z": [[means[d, h] for h in hours] for d in days]}}]}]
