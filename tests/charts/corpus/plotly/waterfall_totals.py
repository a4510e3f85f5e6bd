# %% data
steps = ["Sales", "Consulting", "Net revenue", "Purchases", "Other expenses", "Profit before tax"]
measure = ["relative", "relative", "total", "relative", "relative", "total"]
change = [60, 80, 0, -40, -20, 0]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    go.Waterfall(
        name="20",
        orientation="v",
        measure=measure,
        x=steps,
        y=change,
        textposition="outside",
        text=["+60", "+80", "", "-40", "-20", "Total"],
        connector={"line": {"color": "rgb(63, 63, 63)"}},
    )
)
fig.update_layout(title="Profit and loss statement 2018", showlegend=False, waterfallgap=0.3)
fig.show()

# %% expected
# Totals are drawn as high as what came before adds up to.
drawn, running = [], 0
for kind, value in zip(measure, change):
    running = running if kind == "total" else running + value
    drawn.append(running if kind == "total" else value)
expected = [{"kind": "other", "title": "Profit and loss statement 2018", "x": {"scale": "category", "ticks": steps},
             "series": [{"kind": "other", "label": "20", "columns": {"x": steps, "y": drawn, "measure": measure}}]}]
