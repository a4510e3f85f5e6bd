# %% data
import pandas as pd
df = pd.DataFrame({"fruit": ["apple", "pear", "fig", "apple", "pear", "fig"], "kind": ["raw"] * 3 + ["dried"] * 3,
                   "kg": [10, 40, 25, 5, 20, 30]})

# %% program
import plotly.express as px

fig = px.bar(
    df,
    x="fruit",
    y="kg",
    color="kind",
    title="Fruit sold",
)
fig.update_layout(
    xaxis={"categoryorder": "total descending"},
    yaxis_title="Sold (kg)",
    legend_title=None,
)
fig.show()

# %% expected
order = df.groupby("fruit").kg.sum().sort_values(ascending=False).index.tolist()
expected = [{"kind": "bar", "stacking": "stacked", "x": {"scale": "category", "ticks": order}, "y": {"label": "Sold (kg)"},
             "series": [{"kind": "bar", "label": k, "columns": {"x": df[df.kind == k].fruit, "y": df[df.kind == k].kg}}
                        for k in ("raw", "dried")]}]
