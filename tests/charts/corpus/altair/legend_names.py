# %% data
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 1, 2], "y": [3, 4, 5, 6], "group": ["t", "t", "c", "c"]})

# %% program
import altair as alt

alt.Chart(df).mark_line().encode(
    x=alt.X("x:Q", axis=alt.Axis(tickMinStep=1)),
    y="y:Q",
    color=alt.Color(
        "group:N",
        scale=alt.Scale(domain=["t", "c"], range=["#111111", "#999999"]),
        legend=alt.Legend(
            title="Arm",
            labelExpr="datum.label == 't' ? 'Treatment' : 'Control'",
        ),
    ),
).properties(title="Trial")

# %% expected
expected = [{"kind": "line", "title": "Trial", "series": [
    {"kind": "line", "label": "Treatment", "color": "#111111", "columns": {"x": [1, 2], "y": [3, 4]}},
    {"kind": "line", "label": "Control", "color": "#999999", "columns": {"x": [1, 2], "y": [5, 6]}}]}]
