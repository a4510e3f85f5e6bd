# %% data
import pandas as pd
df = pd.DataFrame({"week": [1, 2, 3, 4], "signups": [10, 14, 9, 20], "churn": [1, 2, 2, 3], "noise": [5, 5, 6, 4]})

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for column in ["signups", "churn", "noise"]:
    fig.add_trace(
        go.Scatter(
            x=df["week"],
            y=df[column],
            name=column,
            mode="lines+markers",
            visible="legendonly" if column == "noise" else True,
        )
    )
fig.update_layout(
    title="Weekly numbers",
    xaxis=dict(title="Week", dtick=1),
    legend=dict(title="Click to show"),
)
fig.show()

# %% expected
expected = [{"kind": "line", "title": "Weekly numbers", "unread": ["noise"], "series": [
    {"kind": "line", "label": c, "columns": {"x": df.week, "y": df[c]}} for c in ("signups", "churn")]}]
