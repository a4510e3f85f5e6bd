# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(9)
df = pd.DataFrame({"day": np.repeat(["Thu", "Fri", "Sat"], 21), "bill": rng.gamma(3, 7, 63).round(2)})

# %% program
import plotly.express as px

fig = px.box(df, x="day", y="bill", title="Bills")
fig.show()

# %% expected
rows = {k: [] for k in ("label", "min", "q1", "median", "q3", "max", "outliers")}
for day in ["Thu", "Fri", "Sat"]:
    v = np.sort(df[df.day == day].bill.to_numpy())
    # Quartiles between neighbours at n * p - 0.5, which numpy calls hazen.
    q1, m, q3 = np.quantile(v, [0.25, 0.5, 0.75], method="hazen")
    inside = v[(v >= q1 - 1.5 * (q3 - q1)) & (v <= q3 + 1.5 * (q3 - q1))]
    row = day, inside.min(), q1, m, q3, inside.max(), [x for x in v if x < inside.min() or x > inside.max()]
    for k, value in zip(rows, row):
        rows[k].append(value)
expected = [{"kind": "box", "title": "Bills", "orientation": "vertical",
             "x": {"label": "day", "scale": "category"}, "y": {"label": "bill"},
             "series": [{"kind": "box", "columns": rows}]}]
