# %% data
import pandas as pd
s = pd.DataFrame({"north": [1, 3, 2], "south": [2, 2, 4]}, index=pd.date_range("2024-05-01", periods=3))

# %% program
import pandas as pd
pd.options.plotting.backend = "plotly"
fig = s.plot(title="Regions")
fig.show()

# %% expected
expected = [{"kind": "line", "title": "Regions", "series": [
    {"kind": "line", "label": c, "columns": {"x": ["2024-05-01", "2024-05-02", "2024-05-03"], "y": s[c]}} for c in s]}]
