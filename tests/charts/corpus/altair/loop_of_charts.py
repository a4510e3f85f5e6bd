# %% data
import pandas as pd
frames = [pd.DataFrame({"x": [1, 2, 3], "y": [k, 2 * k, 3 * k]}) for k in (1, 2, 3)]

# %% program
import altair as alt

for number, frame in enumerate(frames):
    display(alt.Chart(frame, title=f"Chart {number}").mark_line().encode(x="x", y="y"))

# %% expected
expected = [{"kind": "line", "title": f"Chart {i}", "series": [{"columns": {"x": f.x, "y": f.y}}]} for i, f in enumerate(frames)]
