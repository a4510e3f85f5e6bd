# %% data
import pandas as pd
df = pd.DataFrame({
    "year": [2020, 2020, 2020, 2021, 2021, 2021, 2022, 2022, 2022],
    "medal": ["gold", "silver", "bronze"] * 3, "count": [5, 3, 2, 6, 4, 1, 7, 2, 8],
})

# %% program
import plotly.express as px

fig = px.bar(df, x="year", y="count", color="medal")
fig.show()

# %% expected
series, base = [], [0, 0, 0]
for medal in ["gold", "silver", "bronze"]:
    part = df[df.medal == medal]
    columns = {"x": part.year, "y": part["count"]}
    if any(base):
        columns["base"] = list(base)
    series.append({"kind": "bar", "label": medal, "columns": columns})
    base = [b + v for b, v in zip(base, part["count"])]
expected = [{"kind": "bar", "orientation": "vertical", "stacking": "stacked",
             "x": {"label": "year", "scale": "linear"}, "series": series}]
