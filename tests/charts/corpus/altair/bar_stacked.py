# %% data
import pandas as pd
df = pd.DataFrame({"year": ["2021", "2021", "2022", "2022", "2023", "2023"], "kind": ["own", "rent"] * 3,
                   "n": [5, 7, 6, 9, 4, 11]})

# %% program
import altair as alt

chart = alt.Chart(df).mark_bar().encode(x="year:O", y="sum(n):Q", color="kind:N")
chart.save("chart.html")

# %% expected
own, rent = df[df.kind == "own"].n, df[df.kind == "rent"].n
years = ["2021", "2022", "2023"]
expected = [{"kind": "bar", "stacking": "stacked", "y": {"label": "Sum of n"}, "series": [
    {"kind": "bar", "label": "own", "color": "#4c78a8", "columns": {"x": years, "y": own, "base": rent}},
    {"kind": "bar", "label": "rent", "color": "#f58518", "columns": {"x": years, "y": rent}}]}]
