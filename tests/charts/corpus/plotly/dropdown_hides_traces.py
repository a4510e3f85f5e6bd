# %% data
days = ["Mon", "Tue", "Wed", "Thu"]
stores = {"Berlin": [5, 7, 6, 9], "Hamburg": [3, 4, 4, 5], "Munich": [8, 6, 7, 7]}

# %% program
import plotly.graph_objects as go

fig = go.Figure()
for number, (store, sold) in enumerate(stores.items()):
    fig.add_trace(go.Bar(x=days, y=sold, name=store, visible=number == 0))

buttons = []
for number, store in enumerate(stores):
    visible = [other == number for other in range(len(stores))]
    buttons.append(
        dict(label=store, method="update", args=[{"visible": visible}, {"title": f"Sales in {store}"}])
    )
fig.update_layout(
    title="Sales in Berlin",
    updatemenus=[dict(active=0, buttons=buttons, x=1.1, y=1)],
    yaxis_title="Bikes sold",
)
fig.show()

# %% expected
expected = [{"kind": "bar", "title": "Sales in Berlin", "unread": ["Hamburg"], "series": [
    {"kind": "bar", "label": "Berlin", "columns": {"x": days, "y": stores["Berlin"]}}]}]
