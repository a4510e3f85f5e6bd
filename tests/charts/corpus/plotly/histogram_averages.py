# %% data
import pandas as pd
df = pd.DataFrame({"day": ["Thu", "Fri", "Sat", "Thu", "Fri", "Sat", "Sat"], "bill": [12.0, 20.0, 31.0, 16.0, 26.0, 27.0, 20.0],
                   "smoker": ["No", "No", "Yes", "Yes", "No", "Yes", "No"]})

# %% program
import plotly.express as px

fig = px.histogram(
    df,
    x="day",
    y="bill",
    histfunc="avg",
    color="smoker",
    barmode="group",
    category_orders={"day": ["Thu", "Fri", "Sat"]},
    title="Average bill",
)
fig.update_yaxes(tickprefix="$")
fig.show()

# %% expected
means = df.groupby(["smoker", "day"]).bill.mean()
days = ["Thu", "Fri", "Sat"]
def bars(s):
    known = [d for d in days if (s, d) in means.index]
    span = days[days.index(known[0]):days.index(known[-1]) + 1]
    return {"x": span, "y": [float(means.get((s, d), 0)) for d in span]}
expected = [{"kind": "bar", "title": "Average bill", "y": {"label": "avg of bill"}, "x": {"scale": "category", "ticks": days},
             "stacking": "grouped", "series": [{"kind": "bar", "label": s, "columns": bars(s)} for s in ("No", "Yes")]}]
