# %% data
import pandas as pd
df = pd.DataFrame([(year, country, base * (1 + 0.1 * i)) for i, year in enumerate([2019, 2020, 2021])
                   for country, base in [("US", 20.0), ("China", 14.0), ("Japan", 5.0)]], columns=["year", "country", "gdp"])

# %% program
import plotly.express as px

fig = px.bar(
    df,
    x="country",
    y="gdp",
    color="country",
    animation_frame="year",
    animation_group="country",
    range_y=[0, 30],
    labels={"gdp": "GDP (trillion $)"},
    title="GDP over time",
)
fig.update_layout(showlegend=False)
fig.layout.updatemenus[0].buttons[0].args[1]["frame"]["duration"] = 500
fig.show()

# %% expected
first = df[df.year == 2019]
expected = [{"kind": "bar", "title": "GDP over time", "y": {"label": "GDP (trillion $)", "limits": [0, 30]},
             "unread": ["3 frames"], "series": [
    {"kind": "bar", "label": c, "columns": {"x": [c], "y": [v]}} for c, v in zip(first.country, first.gdp)]}]
