# %% data
import pandas as pd
df = pd.DataFrame({
    "year": [2018, 2019, 2020, 2021] * 3, "source": ["coal"] * 4 + ["gas"] * 4 + ["wind"] * 4,
    "twh": [50, 45, 40, 30, 20, 22, 25, 24, 5, 9, 14, 21.5],
})

# %% program
import plotly.express as px

fig = px.area(df, x="year", y="twh", color="source")
fig.show()

# %% expected
series, base = [], [0] * 4
for source in ["coal", "gas", "wind"]:
    part = df[df.source == source]
    top = [b + v for b, v in zip(base, part.twh)]
    columns = {"x": part.year, "y": part.twh}
    if any(base):
        columns["y_base"] = base
    series.append({"kind": "area", "label": source, "columns": columns})
    base = top
expected = [{"kind": "area", "stacking": "stacked", "series": series}]
