# %% data
import pandas as pd
df = pd.DataFrame({"sex": ["F", "M", "M", "F", "M"], "smoker": ["No", "Yes", "No", "No", "Yes"], "size": [2, 3, 2, 4, 2]})

# %% program
import plotly.express as px

fig = px.parallel_categories(
    df,
    dimensions=["sex", "smoker", "size"],
    color="size",
    color_continuous_scale=px.colors.sequential.Inferno,
    labels={"sex": "Payer sex", "smoker": "Smokers at the table", "size": "Party size"},
)
fig.update_layout(title="Tables in a restaurant", coloraxis_showscale=False)
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Tables in a restaurant", "series": [{"kind": "other", "columns": {
    "Payer sex": df.sex, "Smokers at the table": df.smoker, "Party size": df["size"]}}]}]
