# %% data
import pandas as pd
runs = pd.DataFrame({"runner": ["Ann", "Bob", "Cy"], "time": pd.to_timedelta(["01:02:03", "00:58:30", "01:10:00"])})

# %% program
import plotly.express as px

runs["minutes"] = runs["time"].dt.total_seconds() / 60
fig = px.bar(
    runs,
    x="runner",
    y="minutes",
    title="Race",
    labels={"runner": "Runner", "minutes": "Time (min)"},
    text=runs["time"].astype(str).str[-8:],
    color="runner",
)
fig.update_layout(showlegend=False)
fig.update_yaxes(rangemode="tozero")
fig.show()

# %% expected
shown = ["01:02:03", "00:58:30", "01:10:00"]
expected = [{"kind": "bar", "y": {"label": "Time (min)"}, "series": [
    {"kind": "bar", "label": n, "columns": {"x": [n], "y": [runs.time[i].total_seconds() / 60], "text": [shown[i]]}}
    for i, n in enumerate(runs.runner)]}]
