# %% data
import pandas as pd
df = pd.DataFrame({"date": pd.date_range("2024-03-01", periods=4), "open": [10, 11, 12, 11], "high": [12, 13, 13, 12],
                   "low": [9, 10, 11, 10], "close": [11, 12, 11, 11.5]})

# %% program
import plotly.graph_objects as go

fig = go.Figure(go.Candlestick(x=df["date"], open=df["open"], high=df["high"], low=df["low"], close=df["close"]))
fig.update_layout(xaxis_rangeslider_visible=False)
fig.show()

# %% expected
expected = [{"kind": "other", "x": {"scale": "datetime"}, "series": [{"kind": "other", "columns": {
    k: df[k] for k in ("open", "high", "low", "close")}}]}]
