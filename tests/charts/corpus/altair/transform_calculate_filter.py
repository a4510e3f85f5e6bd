# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(16)
df = pd.DataFrame({"height": rng.uniform(1.5, 2, 40), "weight": rng.uniform(50, 100, 40), "team": rng.choice(["red", "blue"], 40)})

# %% program
import altair as alt

alt.Chart(df).transform_calculate(
    bmi="datum.weight / pow(datum.height, 2)", label="upper(datum.team) + ' ' + (datum.weight > 75 ? 'heavy' : 'light')"
).transform_filter(alt.datum.bmi > 20).mark_bar().encode(x="label:N", y="mean(bmi):Q").show()

# %% expected
df["bmi"] = df.weight / df.height**2
df["label"] = df.team.str.upper() + np.where(df.weight > 75, " heavy", " light")
m = df[df.bmi > 20].groupby("label").bmi.mean()
expected = [{"kind": "bar", "y": {"label": "Mean of bmi"}, "series": [{"columns": {"x": m.index, "y": m}}]}]
