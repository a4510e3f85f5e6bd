# %% data
import pandas as pd
df = pd.DataFrame([(c, q, n) for c, row in {"DE": [1, 2], "FR": [3, 4], "IT": [5, 6]}.items() for q, n in zip(["Q1", "Q2"], row)],
                  columns=["country", "quarter", "n"])

# %% program
import plotly.express as px

fig = px.bar(
    df,
    x="quarter",
    y="n",
    facet_col="country",
    facet_col_wrap=2,
    labels={"n": "Orders", "quarter": "Quarter", "country": "Country"},
    title="Orders",
)
fig.for_each_annotation(lambda note: note.update(text=note.text.split("=")[-1]))
fig.update_yaxes(showgrid=False, matches=None)
fig.show()

# %% expected
expected = [{"kind": "multi", "title": "Orders", "charts": [
    {"kind": "bar", "title": c, "row": r, "column": k, "series": [{"columns": {"x": ["Q1", "Q2"], "y": df[df.country == c].n}}]}
    for c, r, k in (("DE", 0, 0), ("FR", 0, 1), ("IT", 1, 0))]}]
