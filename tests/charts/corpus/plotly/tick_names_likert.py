# %% data
import pandas as pd
answers = pd.DataFrame({"question": ["q1", "q2", "q3", "q4", "q5"], "score": [1, 3, 2, 5, 4]})
scale = {1: "Never", 2: "Rarely", 3: "Sometimes", 4: "Often", 5: "Always"}

# %% program
import plotly.express as px

fig = px.scatter(
    answers,
    x="question",
    y="score",
    title="Answers",
    labels={"question": "Question", "score": "Answer"},
)
fig.update_traces(marker=dict(size=14, color="purple"))
fig.update_layout(
    yaxis=dict(
        tickmode="array",
        tickvals=list(scale),
        ticktext=list(scale.values()),
        range=[0.5, 5.5],
    )
)
fig.show()

# %% expected
expected = [{"kind": "scatter", "x": {"label": "Question", "scale": "category"},
             "y": {"label": "Answer", "scale": "category", "ticks": list(scale.values())},
             "series": [{"kind": "scatter", "columns": {"x": answers.question,
                         "y": ["Never", "Sometimes", "Rarely", "Always", "Often"]}}]}]
