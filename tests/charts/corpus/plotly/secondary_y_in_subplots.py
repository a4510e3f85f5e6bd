# %% data
import pandas as pd
df = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=6), "price": [10, 11, 13, 12, 14, 15],
                   "volume": [300, 250, 500, 410, 380, 290], "open": [7, 6, 8, 9, 9, 10], "rate": [.1, .2, .15, .3, .25, .4]})

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(
    rows=2,
    cols=1,
    specs=[[{"secondary_y": True}], [{"secondary_y": True}]],
    subplot_titles=["Market", "Interest"],
)
fig.add_trace(go.Scatter(x=df.t, y=df.price, name="Price"), row=1, col=1, secondary_y=False)
fig.add_trace(go.Bar(x=df.t, y=df.volume, name="Volume"), row=1, col=1, secondary_y=True)
fig.add_trace(go.Bar(x=df.t, y=df.open, name="Open interest"), row=2, col=1, secondary_y=False)
fig.add_trace(go.Scatter(x=df.t, y=df.rate, name="Rate"), row=2, col=1, secondary_y=True)
fig.update_yaxes(title_text="$", row=1, col=1, secondary_y=False)
fig.update_yaxes(title_text="Shares", row=1, col=1, secondary_y=True)
fig.update_yaxes(title_text="Contracts", row=2, col=1, secondary_y=False)
fig.update_yaxes(title_text="%", row=2, col=1, secondary_y=True, tickformat=".0%")
fig.show()

# %% expected
days = df.t.dt.strftime("%Y-%m-%d").tolist()
def panel(row, title, one, two):
    return {"title": title, "row": row, "x": {"scale": "datetime"}, "y": {"label": one[0]}, "y2": {"label": two[0]}, "series": [
        {"kind": k, "label": n, "axis": a, "columns": {"x": days, "y": df[c]}}
        for a, (_, k, n, c) in zip(("y", "y2"), (one, two))]}
expected = [{"kind": "multi", "charts": [
    panel(0, "Market", ("$", "line", "Price", "price"), ("Shares", "bar", "Volume", "volume")),
    panel(1, "Interest", ("Contracts", "bar", "Open interest", "open"), ("%", "line", "Rate", "rate"))]}]
