# %% data
import pandas as pd
df = pd.DataFrame({"t": [1, 2, 3], "alpha": [1, 4, 9], "beta": [2.5, 3.5, 4.5]})

# %% program
import altair as alt

alt.Chart(df).transform_fold(["alpha", "beta"], as_=["name", "amount"]).mark_line().encode(x="t:Q", y="amount:Q", color="name:N").show()

# %% expected
expected = [{"kind": "line", "series": [
    {"kind": "line", "label": n, "columns": {"x": df.t, "y": df[n]}} for n in ("alpha", "beta")]}]
