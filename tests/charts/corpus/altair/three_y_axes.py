# %% data
import pandas as pd
df = pd.DataFrame({"year": [2020, 2021, 2022], "price": [10.0, 12.0, 15.0], "volume": [100, 90, 120], "rate": [0.01, 0.02, 0.05]})

# %% program
import altair as alt

base = alt.Chart(df).encode(x=alt.X("year:O", title="Year"))
price = base.mark_line(color="#e45756").encode(y=alt.Y("price:Q", title="Price (€)"))
volume = base.mark_bar(opacity=0.3).encode(y=alt.Y("volume:Q", title="Volume"))
rate = base.mark_line(color="#54a24b", strokeDash=[4, 2]).encode(
    y=alt.Y("rate:Q", axis=alt.Axis(title="Rate", format=".0%", offset=60))
)
alt.layer(price, volume, rate).resolve_scale(y="independent").properties(title="Market")

# %% expected
years = ["2020", "2021", "2022"]
expected = [{"title": "Market", "y": {"label": "Price (€)"}, "y2": {"label": "Volume"}, "more_axes": {"y3": {"label": "Rate"}}, "series": [
    {"kind": "line", "axis": "y", "columns": {"y": df.price}},
    {"kind": "bar", "axis": "y2", "columns": {"y": df.volume}},
    {"kind": "line", "axis": "y3", "columns": {"y": df.rate}}]}]
