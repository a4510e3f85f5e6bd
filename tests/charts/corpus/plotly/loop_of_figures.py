# %% data
import pandas as pd
frames = {name: pd.DataFrame({"t": range(5), "v": [i * k for i in range(5)]}) for k, name in enumerate(["one", "two", "three"], 1)}

# %% program
import plotly.express as px

for name, df in frames.items():
    fig = px.line(df, x="t", y="v", title=name)
    fig.show()

# %% expected
expected = [{"kind": "line", "title": n, "series": [{"kind": "line", "columns": {"x": f.t, "y": f.v}}]} for n, f in frames.items()]
