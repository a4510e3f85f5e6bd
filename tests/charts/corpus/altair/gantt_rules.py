# %% data
import pandas as pd
df = pd.DataFrame({"task": ["A", "B", "C"], "start": [1, 3, 8], "end": [3, 8, 10]})

# %% program
import altair as alt

bars = alt.Chart(df).mark_bar(height=12).encode(
    x=alt.X("start:Q", title="Week"),
    x2="end:Q",
    y=alt.Y("task:N", sort="-x", title=None),
)
today = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(5))
label = alt.Chart().mark_text(text="today", dx=20, dy=-50).encode(x=alt.datum(5))
alt.layer(bars, today, label, data=df).properties(title="Plan", width=300)

# %% expected
s = df.sort_values("start", ascending=False)
expected = [{"kind": "bar", "orientation": "horizontal", "title": "Plan", "y": {"ticks": s.task}, "annotations": [{"text": "today"}], "series": [
    {"kind": "bar", "columns": {"y": s.task, "x": s.end - s.start, "base": s.start}}, {"kind": "rule", "columns": {"x": [5]}}]}]
