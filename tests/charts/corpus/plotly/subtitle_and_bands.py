# %% data
import pandas as pd
days = pd.date_range("2024-03-01", periods=6)
df = pd.DataFrame({"day": days, "users": [100, 120, 90, 130, 150, 170]})

# %% program
import plotly.express as px

fig = px.line(df, x="day", y="users", markers=True)
fig.update_layout(
    title=dict(text="Active users", subtitle=dict(text="Excluding employees")),
    xaxis=dict(tickformat="%d %b", title=None),
    yaxis=dict(title="Users"),
)
fig.add_vrect(x0="2024-03-03", x1="2024-03-04", annotation_text="outage", fillcolor="red", opacity=0.2)
fig.add_hline(y=140, line_dash="dot", annotation_text="goal")
fig.show()

# %% expected
expected = [{"kind": "line", "title": "Active users", "x": {"scale": "datetime"}, "y": {"label": "Users"},
             "annotations": [{"text": "outage"}, {"text": "goal"}, {"text": "Excluding employees"}],
             "series": [{"kind": "line", "columns": {"x": days.strftime("%Y-%m-%d").tolist(), "y": df.users}},
                        {"kind": "rule", "columns": {"y": [140]}}]}]
