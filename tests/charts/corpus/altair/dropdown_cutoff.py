# %% data
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 3, 4, 5], "y": [5, 9, 2, 8, 7]})

# %% program
import altair as alt

cutoff = alt.param(name="cutoff", value=6, bind=alt.binding_range(min=0, max=10, step=1, name="At least "))
alt.Chart(df).mark_point(size=60).encode(
    x="x:Q",
    y="y:Q",
    color=alt.condition(alt.datum.y > cutoff, alt.value("red"), alt.value("grey")),
).transform_filter(
    alt.datum.y >= cutoff
).add_params(
    cutoff
).properties(title="Above the line")

# %% expected
kept = df[df.y >= 6]
expected = [{"kind": "scatter", "title": "Above the line", "unread": ["At least"],
             "series": [{"kind": "scatter", "columns": {"x": kept.x, "y": kept.y}}]}]
