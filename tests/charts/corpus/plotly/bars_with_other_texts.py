# %% data
import pandas as pd
df = pd.DataFrame({"team": ["Red", "Blue", "Green"], "points": [30, 24, 18], "leader": ["Ann", "Bob", "Cy"]})

# %% program
import plotly.express as px

fig = px.bar(
    df.sort_values("points"),
    x="points",
    y="team",
    orientation="h",
    text="leader",
    title="League",
)
fig.update_traces(textposition="inside", marker_color="royalblue")
fig.update_layout(
    xaxis_title="Points",
    yaxis_title=None,
    uniformtext_minsize=8,
    uniformtext_mode="hide",
)
fig.show()

# %% expected
s = df.iloc[::-1]
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "Points"}, "series": [
    {"kind": "bar", "columns": {"x": s.points, "y": s.team, "text": s.leader}}]}]
