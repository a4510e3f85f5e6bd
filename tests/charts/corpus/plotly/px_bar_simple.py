# %% data
import pandas as pd
df = pd.DataFrame({"fruit": ["apples", "pears", "plums"], "count": [4, 7, 2]})

# %% program
import plotly.express as px

fig = px.bar(df, x="fruit", y="count", title="Fruit")
fig.write_html("fruit.html")

# %% expected
expected = [
    {
        "kind": "bar", "title": "Fruit", "orientation": "vertical", "stacking": None,
        "x": {"label": "fruit", "scale": "category", "ticks": ["apples", "pears", "plums"]},
        "y": {"label": "count", "scale": "linear"},
        "series": [{"kind": "bar", "columns": {"x": df.fruit, "y": df["count"]}}],
    }
]
