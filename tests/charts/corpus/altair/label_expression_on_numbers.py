# %% data
import pandas as pd
df = pd.DataFrame({"level": [1, 2, 3, 2, 1], "score": [5.0, 7.5, 9.0, 8.0, 4.5]})

# %% program
import altair as alt

names = "{'1': 'low', '2': 'middle', '3': 'high'}"
alt.Chart(df).mark_circle(size=80).encode(
    x=alt.X("level:Q").scale(domain=[0.5, 3.5]).axis(
        values=[1, 2, 3],
        labelExpr=f"{names}[datum.label]",
    ).title("Level"),
    y=alt.Y("score:Q").scale(zero=False).title("Score"),
).properties(title="Scores", width=250, height=200)

# %% expected
shown = ["low", "middle", "high", "middle", "low"]
expected = [{"kind": "scatter", "x": {"label": "Level", "scale": "category", "ticks": ["low", "middle", "high"]},
             "series": [{"kind": "scatter", "columns": {"x": shown, "y": df.score}}]}]
