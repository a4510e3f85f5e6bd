# %% data
import pandas as pd
df = pd.DataFrame({"index": [0, 1, 2, 3], "year": [2018, 2019, 2020, 2021], "sales": [10.0, 12.5, 9.0, 14.2]})

# %% program
import plotly.express as px

fig = px.bar(
    df,
    x="index",
    y="sales",
    title="Sales by year",
    labels={"sales": "Sales (M€)", "index": "Year"},
    color_discrete_sequence=["teal"],
)
fig.update_xaxes(
    tickvals=df["index"],
    ticktext=df["year"].astype(str),
    showgrid=False,
)
fig.update_layout(bargap=0.3, plot_bgcolor="white")
fig.show()

# %% expected
years = ["2018", "2019", "2020", "2021"]
expected = [{"kind": "bar", "title": "Sales by year", "x": {"label": "Year", "scale": "category", "ticks": years},
             "y": {"label": "Sales (M€)"}, "series": [{"kind": "bar", "columns": {"x": years, "y": df.sales}}]}]
