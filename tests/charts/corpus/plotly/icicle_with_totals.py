# %% data
budget = {"Total": ("", 100), "Staff": ("Total", 60), "Tools": ("Total", 25), "Travel": ("Total", 15),
          "Salaries": ("Staff", 50), "Training": ("Staff", 10)}

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    go.Icicle(
        labels=list(budget),
        parents=[parent for parent, _ in budget.values()],
        values=[amount for _, amount in budget.values()],
        branchvalues="total",
        tiling=dict(orientation="v"),
        textinfo="label+value",
    )
)
fig.update_layout(title="Budget (k€)", margin=dict(t=50, l=25, r=25, b=25))
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Budget (k€)", "series": [{"kind": "other", "columns": {
    "labels": list(budget), "parents": [p for p, _ in budget.values()], "values": [v for _, v in budget.values()]}}]}]
