# %% data
import pandas as pd
source = pd.DataFrame({"a": ["C", "A", "B"], "b": [28, 55, 43]})

# %% program
import altair as alt

alt.Chart(source, title="Simple bars").mark_bar().encode(x="a", y="b")

# %% expected
s = source.sort_values("a")
expected = [{"kind": "bar", "library": "altair", "title": "Simple bars", "orientation": "vertical", "stacking": None,
             "x": {"label": "a", "scale": "category", "ticks": ["A", "B", "C"]}, "y": {"label": "b", "scale": "linear"},
             "series": [{"kind": "bar", "color": "#4c78a8", "columns": {"x": s.a, "y": s.b}}]}]
