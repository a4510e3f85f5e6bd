# %% data
import pandas as pd
df = pd.DataFrame({
    "quarter": ["Q1", "Q2", "Q3", "Q4"] * 2, "product": ["A"] * 4 + ["B"] * 4,
    "sales": [10.5, 12.25, 9, 14, 8, 11, 13.5, 7],
})

# %% program
import plotly.express as px

fig = px.bar(df, x="quarter", y="sales", color="product", barmode="group", title="Sales by quarter")
fig.update_layout(xaxis_title="Quarter", yaxis_title="Sales (k$)")
fig.show()

# %% expected
expected = [{
    "kind": "bar", "title": "Sales by quarter", "orientation": "vertical", "stacking": "grouped",
    "x": {"label": "Quarter", "scale": "category", "ticks": ["Q1", "Q2", "Q3", "Q4"]},
    "y": {"label": "Sales (k$)"},
    "series": [{"kind": "bar", "label": p, "columns": {"x": g.quarter, "y": g.sales}}
               for p, g in df.groupby("product")],
}]
