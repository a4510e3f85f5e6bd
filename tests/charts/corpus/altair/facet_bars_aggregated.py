# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(14)
df = pd.DataFrame({"year": rng.choice([2020, 2021], 60), "region": rng.choice(["N", "S"], 60), "sales": rng.integers(1, 9, 60)})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(x="region:N", y="sum(sales):Q", column="year:O")

# %% expected
expected = [{"kind": "multi", "charts": [{"kind": "bar", "title": str(y), "row": 0, "column": i, "series": [
    {"columns": {"x": ["N", "S"], "y": g.groupby("region").sales.sum()}}]} for i, (y, g) in enumerate(df.groupby("year"))]}]
