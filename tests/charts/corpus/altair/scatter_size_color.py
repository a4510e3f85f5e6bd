# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(7)
df = pd.DataFrame({"hp": rng.uniform(50, 200, 50), "mpg": rng.uniform(10, 40, 50), "weight": rng.uniform(1, 3, 50),
                   "origin": rng.choice(["USA", "Japan", "Europe"], 50)})

# %% program
import altair as alt

alt.Chart(df).mark_circle(size=60).encode(
    x=alt.X("hp", title="Horsepower"), y="mpg", size="weight", color="origin", tooltip=["origin", "hp"]).interactive()

# %% expected
expected = [{"kind": "scatter", "x": {"label": "Horsepower"}, "series": [
    {"kind": "scatter", "label": o, "columns": {"x": g.hp, "y": g.mpg, "size": g.weight}}
    for o, g in df.groupby("origin")]}]
