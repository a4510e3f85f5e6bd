# %% data
codes = ["de", "fr", "it"]
countries = {"de": "Germany", "fr": "France", "it": "Italy"}
population = [83.2, 67.8, 58.9]
area = [357, 551, 302]

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=1, cols=2)
fig.add_trace(go.Bar(x=codes, y=population, name="Population"), row=1, col=1)
fig.add_trace(go.Bar(x=codes, y=area, name="Area"), row=1, col=2)
fig.update_xaxes(
    tickmode="array",
    tickvals=codes,
    ticktext=[countries[code] for code in codes],
    row=1,
    col=1,
)
fig.update_xaxes(labelalias=countries, row=1, col=2)
fig.update_yaxes(title_text="Population (million)", col=1)
fig.update_yaxes(title_text="Area (1000 km²)", col=2)
fig.show()

# %% expected
names = list(countries.values())
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "column": c, "x": {"scale": "category", "ticks": names},
     "series": [{"kind": "bar", "label": n, "columns": {"x": names, "y": v}}]}
    for c, (n, v) in enumerate([("Population", population), ("Area", area)])]}]
