# %% data
import pandas as pd
days = pd.bdate_range("2024-05-02", periods=5)
df = pd.DataFrame({"Date": days, "Open": [10, 11, 12, 11, 13], "High": [12, 13, 13, 14, 15], "Low": [9, 10, 11, 10, 12],
                   "Close": [11, 12, 11, 13, 14], "Volume": [1000, 1500, 900, 2000, 1700]})

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.7, 0.3], vertical_spacing=0.03)
fig.add_trace(
    go.Candlestick(
        x=df["Date"], open=df["Open"], high=df["High"], low=df["Low"], close=df["Close"], name="OHLC"
    ),
    row=1, col=1,
)
fig.add_trace(go.Bar(x=df["Date"], y=df["Volume"], name="Volume", marker_color="grey"), row=2, col=1)
fig.update_xaxes(rangebreaks=[dict(bounds=["sat", "mon"])], rangeslider_visible=False, tickformat="%b %d")
fig.update_yaxes(title_text="Price ($)", row=1, col=1)
fig.update_yaxes(title_text="Volume", row=2, col=1)
fig.update_layout(title_text="ACME", showlegend=False)
fig.show()

# %% expected
dates = days.strftime("%Y-%m-%d").tolist()
expected = [{"kind": "multi", "title": "ACME", "charts": [
    {"kind": "other", "row": 0, "x": {"scale": "datetime"}, "y": {"label": "Price ($)"}, "series": [{"kind": "other", "label": "OHLC", "columns": {
        "x": dates, **{k.lower(): df[k] for k in ("Open", "High", "Low", "Close")}}}]},
    {"kind": "bar", "row": 1, "x": {"scale": "datetime"}, "y": {"label": "Volume"},
     "series": [{"kind": "bar", "label": "Volume", "columns": {"x": dates, "y": df.Volume}}]}]}]
