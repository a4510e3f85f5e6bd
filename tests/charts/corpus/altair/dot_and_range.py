# %% data
import pandas as pd
df = pd.DataFrame({"country": ["China", "India", "Mali"], "1955": [44.0, 40.0, 33.0], "2000": [71.0, 62.0, 48.0]})

# %% program
import altair as alt

long = df.melt("country", var_name="year", value_name="life")
lines = alt.Chart(long).mark_line(color="#db646f").encode(
    x="life:Q",
    y="country:N",
    detail="country:N",
)
dots = alt.Chart(long).mark_point(size=100, filled=True, opacity=1).encode(
    x=alt.X("life:Q", title="Life expectancy"),
    y=alt.Y("country:N", title=None),
    color=alt.Color("year:O", scale=alt.Scale(domain=["1955", "2000"], range=["#e6959c", "#911a24"])),
)
(lines + dots).properties(title="Life expectancy")

# %% expected
names = list(df.country)
expected = [{"kind": "line", "title": "Life expectancy", "y": {"scale": "category", "ticks": names}, "series": [
    *({"kind": "line", "label": c, "columns": {"x": [a, b], "y": [c, c]}} for c, a, b in zip(names, df["1955"], df["2000"])),
    *({"kind": "scatter", "label": y, "columns": {"x": df[y], "y": names}} for y in ("1955", "2000"))]}]
