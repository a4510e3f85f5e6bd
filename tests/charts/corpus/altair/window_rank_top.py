# %% data
import pandas as pd
df = pd.DataFrame({"film": list("abcdefg"), "gross": [50, 90, 20, 70, 10, 60, 30]})

# %% program
import altair as alt

alt.Chart(df, title="Top three films").mark_bar().encode(
    x=alt.X("gross:Q", title="Gross (M$)"),
    y=alt.Y("film:N", sort="-x", title=None),
).transform_window(
    rank="rank(gross)",
    sort=[alt.SortField("gross", order="descending")],
).transform_filter(
    alt.datum.rank <= 3
)

# %% expected
top = df.sort_values("gross", ascending=False).head(3)
expected = [{"kind": "bar", "orientation": "horizontal", "y": {"ticks": top.film}, "x": {"label": "Gross (M$)"},
             "series": [{"kind": "bar", "columns": {"y": top.film, "x": top.gross}}]}]
