# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(1)
df = pd.DataFrame({
    "gdp": rng.lognormal(9, 1, 60), "life": rng.normal(70, 8, 60),
    "pop": rng.integers(1, 1000, 60), "continent": rng.choice(["Asia", "Europe", "Africa"], 60),
})

# %% program
import plotly.express as px

fig = px.scatter(df, x="gdp", y="life", size="pop", color="continent", log_x=True,
                 labels={"gdp": "GDP per capita", "life": "Life expectancy"}, title="Gapminder")
fig.show()

# %% expected
expected = [
    {
        "kind": "scatter",
        "title": "Gapminder",
        "x": {"label": "GDP per capita", "scale": "log"},
        "y": {"label": "Life expectancy", "scale": "linear"},
        "series": [
            {"kind": "scatter", "label": c, "columns": {
                "x": part["gdp"], "y": part["life"], "size": part["pop"]}}
            for c, part in df.groupby("continent", sort=False)
        ],
    }
]
