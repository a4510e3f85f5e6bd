# %% data
years = ["2023", "2023", "2024", "2024"]
halves = ["H1", "H2", "H1", "H2"]
online, shop = [10, 12, 15, 18], [20, 19, 17, 15]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Bar(x=[years, halves], y=online, name="Online"))
fig.add_trace(go.Bar(x=[years, halves], y=shop, name="Shop"))
fig.update_layout(
    barmode="relative",
    title="Two channels",
    yaxis=dict(title="Sales", ticksuffix=" k€"),
    legend=dict(orientation="h"),
)
fig.show()

# %% expected
names = [f"{y} / {h}" for y, h in zip(years, halves)]
expected = [{"kind": "bar", "stacking": "stacked", "x": {"scale": "category", "ticks": names}, "series": [
    {"kind": "bar", "label": "Online", "columns": {"x": names, "y": online}},
    {"kind": "bar", "label": "Shop", "columns": {"x": names, "y": shop, "base": online}}]}]
