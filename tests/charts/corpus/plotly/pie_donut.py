# %% data
labels = ["Rent", "Food", "Travel", "Other"]
values = [1200, 450.5, 300, 120]

# %% program
import plotly.graph_objects as go

fig = go.Figure(data=[go.Pie(labels=labels, values=values, hole=0.4)])
fig.update_layout(title_text="Budget")
fig.show()

# %% expected
expected = [{"kind": "pie", "title": "Budget", "series": [{"kind": "pie", "columns": {"label": labels, "value": values}}]}]
