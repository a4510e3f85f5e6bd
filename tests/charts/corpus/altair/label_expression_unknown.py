# %% data
import pandas as pd
df = pd.DataFrame({"code": ["a", "b"], "n": [1, 2]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X(
        "code:N",
        axis=alt.Axis(labelExpr="pluck([{name: datum.label}], 'name')[0] + '!'"),
    ),
    y="n:Q",
).properties(
    title="Codes",
    width=150,
    height=150,
)

# %% expected
expected = [{"kind": "bar", "title": "Codes", "unread": ["labels of the x axis"], "series": [
    {"kind": "bar", "columns": {"x": df.code, "y": df.n}}]}]
