# %% data
import pandas as pd
df = pd.DataFrame({"week": [1, 2, 3], "in": [10, 12, 9], "out": [7, 8, 11]})

# %% program
import altair as alt

alt.Chart(df).transform_calculate(
    net="datum['in'] - datum.out",
).transform_fold(
    ["in", "out", "net"],
    as_=["flow", "boxes"],
).mark_line(strokeWidth=3).encode(
    x="week:O",
    y=alt.Y("boxes:Q", title="Boxes"),
    color=alt.Color("flow:N", sort=["in", "out", "net"], legend=alt.Legend(title="Flow")),
).properties(title="Warehouse", width=300)

# %% expected
net = df["in"] - df.out
expected = [{"kind": "line", "title": "Warehouse", "y": {"label": "Boxes"}, "series": [
    {"kind": "line", "label": n, "columns": {"y": v}} for n, v in (("in", df["in"]), ("out", df.out), ("net", net))]}]
