# %% data
months = ["Jan", "Feb", "Mar"]
income = [5, 6, 7]
costs = [-3, -2, -4]
other = [1, 2, 1]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_bar(x=months, y=income, name="income")
fig.add_bar(x=months, y=costs, name="costs")
fig.add_bar(x=months, y=other, name="other")
fig.update_layout(barmode="relative", title_text="Balance")
fig.show()

# %% expected
expected = [{
    "kind": "bar", "title": "Balance", "stacking": "stacked",
    "series": [
        {"kind": "bar", "label": "income", "columns": {"x": months, "y": income}},
        {"kind": "bar", "label": "costs", "columns": {"x": months, "y": costs}},
        {"kind": "bar", "label": "other", "columns": {"x": months, "y": other, "base": income}},
    ],
}]
