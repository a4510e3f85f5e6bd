# %% data
import pandas as pd
df = pd.DataFrame({"task": ["A", "B", "C"], "start": [1, 3, 8], "end": [3, 8, 10]})

# %% program
import altair as alt

alt.Chart(df).mark_bar().encode(x="start", x2="end", y="task").show()

# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "series": [{"columns": {"x": [2, 5, 2], "base": [1, 3, 8], "y": ["A", "B", "C"]}}]}]
