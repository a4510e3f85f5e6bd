# %% data
import pandas as pd
df = pd.DataFrame({"answer": [0, 1, 2], "people": [12, 30, 8]})
names = {0: "No", 1: "Yes", 2: "Maybe"}

# %% program
import altair as alt

alt.Chart(df).mark_bar(size=30).encode(
    x=alt.X(
        "answer:O",
        title="Answer",
        axis=alt.Axis(
            labelExpr="datum.value == 0 ? 'No' : datum.value == 1 ? 'Yes' : 'Maybe'",
            labelAngle=0,
        ),
    ),
    y=alt.Y("people:Q", title="People"),
).properties(title="Would you come again?", width=200)

# %% expected
shown = [names[k] for k in df.answer]
expected = [{"kind": "bar", "x": {"label": "Answer", "scale": "category", "ticks": shown},
             "series": [{"kind": "bar", "columns": {"x": shown, "y": df.people}}]}]
