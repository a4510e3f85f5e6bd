# %% data
import pandas as pd
waits = pd.Series(pd.to_timedelta([90, 3600, 90000], unit="s"))

# %% program
import plotly.graph_objects as go

names = ["first", "second", "third"]
fig = go.Figure()
fig.add_trace(
    go.Bar(
        x=names,
        y=waits + pd.to_datetime("1970-01-01"),
        name="wait",
        marker_color="orange",
    )
)
fig.update_layout(
    title="Waiting time",
    yaxis=dict(title="Wait (h:m:s)", tickformat="%H:%M:%S", type="date"),
    bargap=0.4,
)
fig.show()

# %% expected
moments = [(pd.Timestamp("1970-01-01") + w).isoformat() for w in waits]
expected = [{"kind": "bar", "y": {"label": "Wait (h:m:s)", "scale": "datetime"}, "series": [
    {"kind": "bar", "columns": {"x": ["first", "second", "third"], "y": moments}}]}]
