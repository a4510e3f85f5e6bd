# %% data
import pandas as pd
df = pd.DataFrame({"site": ["s1", "s1", "s2", "s2", "s3", "s3"], "x": [1, 2] * 3, "y": [1, 4, 2, 5, 3, 6]})

# %% program
import altair as alt

alt.Chart(df).mark_line(point=True).encode(
    x="x:O",
    y="y:Q",
    facet=alt.Facet(
        "site:N",
        columns=2,
        header=alt.Header(
            title="Site",
            labelExpr="'Site ' + datum.label",
        ),
    ),
).properties(width=120, height=80).resolve_scale(y="independent")

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "line", "title": f"Site {s}", "row": i // 2, "column": i % 2, "series": [{"kind": "line", "columns": {"y": df[df.site == s].y}},
     {"kind": "scatter"}][:1]} for i, s in enumerate(["s1", "s2", "s3"])]}]
