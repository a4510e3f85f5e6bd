# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"x": list("abcd"), "v": [3, 8, 5, 6]})

# %% program
import altair as alt

bars = alt.Chart(df).mark_bar().encode(x="x", y="v")
rule = alt.Chart(df).mark_rule(color="red").encode(y="mean(v):Q")
limit = alt.Chart().mark_rule().encode(y=alt.datum(7))
(bars + rule + limit).show()

# %% expected
expected = [{"kind": "bar", "series": [
    {"kind": "bar", "columns": {"x": df.x, "y": df.v}},
    {"kind": "rule", "color": "#ff0000", "columns": {"y": [5.5]}},
    {"kind": "rule", "columns": {"y": [7]}}]}]
