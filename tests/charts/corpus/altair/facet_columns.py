# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(13)
df = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30), "sp": rng.choice(["s1", "s2", "s3"], 30)})

# %% program
import altair as alt

alt.Chart(df).mark_point().encode(x="x:Q", y="y:Q").facet(column="sp:N").show()
alt.Chart(df).mark_point().encode(x="x:Q", y="y:Q", row="sp:N").show()

# %% expected
parts = [(s, g) for s, g in df.groupby("sp")]
expected = [
    {"kind": "multi", "charts": [{"kind": "scatter", "title": s, "row": 0, "column": i, "series": [
        {"kind": "scatter", "columns": {"x": g.x, "y": g.y}}]} for i, (s, g) in enumerate(parts)]},
    {"kind": "multi", "charts": [{"kind": "scatter", "title": s, "row": i, "column": 0, "series": [
        {"kind": "scatter", "columns": {"x": g.x, "y": g.y}}]} for i, (s, g) in enumerate(parts)]},
]
