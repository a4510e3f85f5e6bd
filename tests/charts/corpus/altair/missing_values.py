# %% data
import numpy as np
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 3, 4], "y": [1.5, np.nan, 2.5, 3.5]})

# %% program
import altair as alt

alt.Chart(df).mark_line().encode(x="x:Q", y="y:Q").show()
alt.Chart(df).mark_point().encode(x="x:Q", y="y:Q").show()

# %% expected
expected = [{"kind": "line", "series": [{"columns": {"x": df.x, "y": df.y}}]},
            {"kind": "scatter", "series": [{"columns": {"x": [1, 3, 4], "y": [1.5, 2.5, 3.5]}}]}]
