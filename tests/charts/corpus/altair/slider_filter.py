# %% data
import pandas as pd
df = pd.DataFrame({"year": [2000, 2000, 2001, 2001], "sex": ["F", "M", "F", "M"], "people": [10, 12, 20, 22]})

# %% program
import altair as alt

slider = alt.binding_range(min=2000, max=2001, step=1, name="Year: ")
year = alt.selection_point(name="year", fields=["year"], bind=slider, value=2000)

alt.Chart(df).mark_bar().encode(
    x=alt.X("sex:N", title=None),
    y=alt.Y("people:Q", scale=alt.Scale(domain=(0, 30))),
    color="sex:N",
).add_params(year).transform_filter(year).properties(title="People", width=100)

# %% expected
first = df[df.year == 2000]
expected = [{"kind": "bar", "title": "People", "unread": ["Year"], "y": {"limits": [0, 30]}, "series": [
    # The colours repeat the names on the axis: one series.
    {"kind": "bar", "columns": {"x": first.sex, "y": first.people}}]}]
