# %% data
import pandas as pd
df = pd.DataFrame({"size": ["L", "S", "M", "XL"] * 2, "n": [5, 9, 12, 2, 4, 8, 10, 3], "shop": ["b"] * 4 + ["a"] * 4})
order = ["S", "M", "L", "XL"]

# %% program
import plotly.express as px

fig = px.bar(
    df,
    x="size",
    y="n",
    color="shop",
    barmode="group",
    category_orders={"size": order, "shop": ["a", "b"]},
    labels={"n": "Sold", "size": "Size", "shop": "Shop"},
    color_discrete_map={"a": "#111111", "b": "#eeeeee"},
)
fig.update_layout(title_text="Shirts")
fig.show()

# %% expected
expected = [{"kind": "bar", "stacking": "grouped", "x": {"label": "Size", "scale": "category", "ticks": order}, "y": {"label": "Sold"},
             "series": [{"kind": "bar", "label": s, "color": c, "columns": {
                 "x": df[df.shop == s]["size"], "y": df[df.shop == s].n}} for s, c in (("a", "#111111"), ("b", "#eeeeee"))]}]
