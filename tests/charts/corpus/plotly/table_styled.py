# %% data
import pandas as pd
df = pd.DataFrame({"Company": ["Acme", "Beta", "Core"], "Revenue": [12.5, 9.1, 20.0], "Employees": [120, 80, 310]})

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    data=[
        go.Table(
            columnwidth=[2, 1, 1],
            header=dict(
                values=[f"<b>{name}</b>" for name in df.columns],
                fill_color="paleturquoise",
                align="left",
            ),
            cells=dict(
                values=[df[name] for name in df.columns],
                fill_color="lavender",
                align="left",
                format=[None, ".1f", ",d"],
            ),
        )
    ]
)
fig.update_layout(title="Companies", height=300)
fig.show()

# %% expected
expected = [{"kind": "other", "title": "Companies", "series": [{"kind": "other", "columns": {c: df[c] for c in df}}]}]
