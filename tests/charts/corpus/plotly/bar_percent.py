# %% data
import pandas as pd
df = pd.DataFrame({"year": ["2021", "2022", "2021", "2022", "2021", "2022"], "fuel": ["coal", "coal", "gas", "gas", "wind", "wind"],
                   "twh": [30.0, 20.0, 50.0, 40.0, 20.0, 40.0]})

# %% program
import plotly.express as px

fig = px.bar(df, x="year", y="twh", color="fuel", title="Share of power")
fig.update_layout(
    barnorm="percent",
    yaxis=dict(title="Share", ticksuffix="%"),
    xaxis=dict(type="category", title=""),
    legend=dict(traceorder="reversed"),
)
fig.show()

# %% expected
share = df.twh / df.groupby("year").twh.transform("sum") * 100
base = share.groupby(df.year).cumsum() - share
expected = [{"kind": "bar", "stacking": "stacked", "x": {"scale": "category", "ticks": ["2021", "2022"]}, "series": [
    {"kind": "bar", "label": f, "columns": {"x": ["2021", "2022"], "y": share[df.fuel == f]}} for f in ("coal", "gas", "wind")]}]
