# %% data
import pandas as pd
df = pd.DataFrame({"cat": list("aabbcc"), "group": ["x", "y"] * 3, "value": [0.1, 0.6, 0.7, 0.2, 0.4, 0.3]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(x="cat:N", xOffset="group:N", y="value:Q", color="group:N").display()

# %% expected
expected = [{"kind": "bar", "stacking": "grouped", "series": [
    {"kind": "bar", "label": g, "columns": {"x": list("abc"), "y": df[df.group == g].value}} for g in "xy"]}]
