# %% data
features = ["age_years", "income_usd", "tenure_months", "clicks"]
importance = [0.31, 0.27, 0.24, 0.18]
shown = ["Age", "Income", "Tenure", "Clicks"]

# %% program
import plotly.graph_objects as go

order = range(len(features))
fig = go.Figure(
    go.Bar(
        x=importance,
        y=list(order),
        orientation="h",
        marker=dict(color=importance, colorscale="Blues"),
    )
)
fig.update_yaxes(
    tickvals=list(order),
    ticktext=[f"<b>{name}</b>" for name in shown],
    autorange="reversed",
    automargin=True,
)
fig.update_xaxes(title="Importance", tickformat=".0%", range=[0, 0.4])
fig.update_layout(title=dict(text="What the model looks at", x=0.5), height=400)
fig.show()

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "Importance", "limits": [0, 0.4]},
             "y": {"scale": "category", "ticks": shown},
             "series": [{"kind": "bar", "columns": {"x": importance, "y": shown}}]}]
