# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
df = pd.DataFrame({"city": rng.choice(["Oslo", "Rome", "Lima", "Cairo"], 80), "temp": rng.normal(18, 6, 80)})

# %% program
import altair as alt

chart = alt.Chart(df).mark_bar().encode(
    x=alt.X("city:N", sort="-y", title="City"),
    y=alt.Y("mean(temp):Q", title="Mean temperature"),
).properties(title="Temperatures", width=400)
chart.show()

# %% expected
m = df.groupby("city").temp.mean().sort_values(ascending=False)
expected = [{"kind": "bar", "title": "Temperatures", "x": {"label": "City", "ticks": list(m.index)},
             "y": {"label": "Mean temperature"}, "series": [{"kind": "bar", "columns": {"x": m.index, "y": m}}]}]
