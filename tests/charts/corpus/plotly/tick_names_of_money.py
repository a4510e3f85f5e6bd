# %% data
quarters = ["Q1", "Q2", "Q3", "Q4"]
revenue = [1000, 3000, 2000, 4000]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    go.Scatter(
        x=quarters,
        y=revenue,
        mode="markers+lines",
        marker=dict(size=12, symbol="diamond"),
        name="Revenue",
    )
)
ticks = [0, 1000, 2000, 3000, 4000, 5000]
fig.update_yaxes(
    tickvals=ticks,
    ticktext=[f"${tick // 1000}K" for tick in ticks],
    title="Revenue",
    range=[0, 5000],
)
fig.update_layout(title="Revenue by quarter", showlegend=False)
fig.show()

# %% expected
# The texts are the same numbers, written shorter: values stay numbers.
expected = [{"kind": "line", "y": {"label": "Revenue", "scale": "linear", "limits": [0, 5000],
             "ticks": [0, 1000, 2000, 3000, 4000, 5000], "tick_labels": ["$0K", "$1K", "$2K", "$3K", "$4K", "$5K"]},
             "series": [{"kind": "line", "columns": {"x": quarters, "y": revenue}}]}]
