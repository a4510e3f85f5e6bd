# %% data
import pandas as pd
df = pd.DataFrame({"country": ["Chile", "Peru", "Bolivia"], "gdp": [16.3, 7.1, 3.6], "life": [80.0, 76.2, 71.5]})

# %% program
import plotly.express as px

fig = px.scatter(
    df,
    x="gdp",
    y="life",
    text="country",
    size_max=60,
    title="Life expectancy and income",
    labels={"gdp": "GDP per head (k$)", "life": "Life expectancy"},
)
fig.update_traces(textposition="top center", marker=dict(color="navy", size=10))
fig.update_xaxes(range=[0, 20])
fig.show()

# %% expected
expected = [{"kind": "scatter", "x": {"limits": [0, 20]}, "series": [
    {"kind": "scatter", "columns": {"x": df.gdp, "y": df.life, "text": df.country}}]}]
