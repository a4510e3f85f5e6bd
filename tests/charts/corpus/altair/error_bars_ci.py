# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(391)
df = pd.DataFrame({"variety": np.repeat(["x", "y", "z"], 8), "yield": rng.normal(30, 5, 24)})

# %% program
import altair as alt

error_bars = alt.Chart(df).mark_errorbar(extent="ci").encode(
    x=alt.X("yield:Q").scale(zero=False),
    y=alt.Y("variety:N"),
)
points = alt.Chart(df).mark_point(filled=True, color="black").encode(
    x=alt.X("mean(yield):Q").title("Mean yield"),
    y="variety:N",
)
(error_bars + points).properties(title="Barley")

# %% expected
# The bootstrapped interval is drawn at random, in the browser; the means are known all the same.
means = df.groupby("variety")["yield"].mean()
expected = [{"title": "Barley", "unread": ["at random"], "series": [
    {"kind": "errorbar", "columns": {}}, {"kind": "scatter", "columns": {"x": means, "y": ["x", "y", "z"]}}]}]
