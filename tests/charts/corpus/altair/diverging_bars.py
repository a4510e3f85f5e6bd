# %% data
import pandas as pd
df = pd.DataFrame({"month": list("JFMA"), "change": [5, -3, 2, -4]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(
    x=alt.X("month:N", sort=list("JFMA")), y="change:Q",
    color=alt.condition(alt.datum.change > 0, alt.value("steelblue"), alt.value("orange"))).show()

# %% expected
expected = [{"kind": "bar", "stacking": None, "series": [{"columns": {"x": list("JFMA"), "y": [5, -3, 2, -4]}}]}]
