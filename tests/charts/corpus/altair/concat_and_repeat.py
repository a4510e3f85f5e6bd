# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(15)
df = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])

# %% program
import altair as alt

base = alt.Chart(df).mark_point()
display(base.encode(x="a", y="b") | base.encode(x="b", y="c"))
alt.Chart(df).mark_point().encode(alt.X(alt.repeat("column"), type="quantitative"), alt.Y(alt.repeat("row"), type="quantitative")).repeat(row=["a", "b"], column=["c"])

# %% expected
def panel(row, column, x, y):
    return {"kind": "scatter", "row": row, "column": column, "x": {"label": x}, "y": {"label": y},
            "series": [{"columns": {"x": df[x], "y": df[y]}}]}
expected = [{"kind": "multi", "charts": [panel(0, 0, "a", "b"), panel(0, 1, "b", "c")]},
            {"kind": "multi", "charts": [panel(0, 0, "c", "a"), panel(1, 0, "c", "b")]}]
