# %% data
import pandas as pd
df = pd.DataFrame({"a": [1, 10, 100, 1000], "b": [1.0, 4.0, 9.0, 16.0]})

# %% program
import altair as alt

points = alt.Chart(df).mark_point(filled=True).encode(
    x=alt.X("a:Q", scale=alt.Scale(type="log", domain=[1, 10000]), title="A (log)"),
    y=alt.Y("b:Q", scale=alt.Scale(type="sqrt", domain=[0, 25]), title="B (sqrt)"),
)
rule = alt.Chart(pd.DataFrame({"limit": [12.25]})).mark_rule(color="red").encode(
    y="limit:Q",
)
(points + rule).properties(
    title=alt.TitleParams("Scales", subtitle="one log, one root"),
)

# %% expected
expected = [{"kind": "scatter", "title": "Scales", "annotations": [{"text": "one log, one root"}],
             "x": {"scale": "log", "limits": [1, 10000]}, "y": {"scale": "other", "limits": [0, 25]}, "series": [
    {"kind": "scatter", "columns": {"x": df.a, "y": df.b}}, {"kind": "rule", "columns": {"y": [12.25]}}]}]
