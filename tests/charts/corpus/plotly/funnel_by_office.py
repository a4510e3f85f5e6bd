# %% data
import pandas as pd
stages = ["Website visit", "Downloads", "Potential customers", "Requested price", "Invoice sent"]
df = pd.DataFrame({"number": [39, 27.4, 20.6, 11, 3, 52, 36, 18, 14, 5], "stage": stages * 2,
                   "office": ["Montreal"] * 5 + ["Toronto"] * 5})

# %% program
import plotly.express as px

fig = px.funnel(
    df,
    x="number",
    y="stage",
    color="office",
    title="Funnel by office",
    labels={"number": "Visitors", "stage": "Stage"},
)
fig.update_layout(legend_title_text="Office", template="simple_white")
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Funnel by office", "y": {"scale": "category", "ticks": stages}, "series": [
    {"kind": "other", "label": o, "columns": {"x": g.number, "y": g.stage}} for o, g in df.groupby("office")]}]
