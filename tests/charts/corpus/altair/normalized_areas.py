# %% data
import pandas as pd
df = pd.DataFrame({"year": [2019, 2019, 2020, 2020, 2021, 2021], "source": ["coal", "wind"] * 3, "twh": [30.0, 10.0, 25.0, 25.0, 10.0, 40.0]})

# %% program
import altair as alt

alt.Chart(df).mark_area().encode(
    x=alt.X("year:O", title="Year"),
    y=alt.Y("twh:Q", stack="normalize", axis=alt.Axis(format="%"), title="Share"),
    color=alt.Color("source:N", title="Source"),
    tooltip=["source", "twh"],
).properties(
    title="Power by source",
    width=300,
    height=200,
)

# %% expected
share = df.twh / df.groupby("year").twh.transform("sum")
expected = [{"kind": "area", "stacking": "stacked", "y": {"label": "Share"}, "series": [
    {"kind": "area", "label": s, "columns": {"y": share[df.source == s]}} for s in ("coal", "wind")]}]
