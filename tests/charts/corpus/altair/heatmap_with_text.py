# %% data
import pandas as pd
corr = pd.DataFrame([[1.0, 0.5], [0.5, 1.0]], index=["a", "b"], columns=["a", "b"])
df = corr.stack().reset_index()
df.columns = ["v1", "v2", "r"]

# %% program
import altair as alt

base = alt.Chart(df).encode(x="v1:N", y="v2:N")
chart = base.mark_rect().encode(color="r:Q") + base.mark_text().encode(text="r:Q")
chart.properties(title="Correlation").save("corr.json")

# %% expected
expected = [{"kind": "heatmap", "title": "Correlation",
             "annotations": [{"text": "1"}, {"text": "0.5"}, {"text": "0.5"}, {"text": "1"}],
             "series": [{"kind": "heatmap", "columns": {"x": ["a", "b"], "y": ["a", "b"], "z": corr.to_numpy()}}]}]
