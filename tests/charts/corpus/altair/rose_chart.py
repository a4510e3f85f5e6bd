# %% data
import pandas as pd
df = pd.DataFrame({"values": [12, 23, 47, 6, 52, 19]})

# %% program
import altair as alt

base = alt.Chart(df).encode(
    alt.Theta("values:Q").stack(True),
    alt.Radius("values").scale(type="sqrt", zero=True, rangeMin=20),
    color="values:N",
)
slices = base.mark_arc(innerRadius=20, stroke="#fff")
texts = base.mark_text(radiusOffset=10).encode(text="values:Q")
(slices + texts).properties(title="Roses")

# %% expected
order = sorted(df["values"])
expected = [{"kind": "pie", "title": "Roses", "series": [{"kind": "pie", "columns": {"label": [str(v) for v in order], "value": order}}],
             "annotations": [{"text": str(v)} for v in df["values"]]}]
