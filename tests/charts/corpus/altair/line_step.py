# %% data
import pandas as pd
df = pd.DataFrame({"t": range(6), "v": [1, 1, 2, 3, 5, 8]})

# %% program
import altair as alt

alt.Chart(df).mark_line(interpolate="step-after").encode(x="t:Q", y="v:Q").show()

# %% expected
expected = [{"kind": "step", "series": [{"kind": "step", "columns": {"x": df.t, "y": df.v}}]}]
