# %% data
import pandas as pd
df = pd.DataFrame({"region": ["North", "North", "South", "South", "South"],
                   "city": ["Oslo", "Bergen", "Rome", "Milan", "Bari"], "sales": [30, 12, 25, 40, 8]})

# %% program
import plotly.express as px

fig = px.treemap(
    df,
    path=["region", "city"],
    values="sales",
    title="Sales by region and city",
    color_discrete_sequence=px.colors.qualitative.Pastel,
)
fig.update_traces(root_color="lightgrey", textinfo="label+value")
fig.update_layout(margin=dict(t=50, l=25, r=25, b=25))
fig.show()

# %% expected
import plotly.express as px
# The figure itself only gives the order of its sectors.
order = [str(name) for name in px.treemap(df, path=["region", "city"], values="sales").data[0]["ids"]]
sums = {**df.groupby("region").sales.sum(), **{f"{r}/{c}": s for r, c, s in zip(df.region, df.city, df.sales)}}
expected = [{"kind": "other", "title": "Sales by region and city", "series": [{"kind": "other", "columns": {
    "labels": [n.split("/")[-1] for n in order], "parents": [n.rpartition("/")[0] for n in order],
    "values": [float(sums[n]) for n in order]}}]}]
