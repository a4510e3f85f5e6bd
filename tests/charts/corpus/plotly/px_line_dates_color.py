# %% data
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
dates = pd.date_range("2024-01-01", periods=90)
frames = []
for ticker in ["AAPL", "GOOG", "MSFT"]:
    frames.append(pd.DataFrame({"date": dates, "ticker": ticker, "price": 100 + rng.normal(0, 1, 90).cumsum()}))
df = pd.concat(frames, ignore_index=True)

# %% program
import plotly.express as px

fig = px.line(df, x="date", y="price", color="ticker", title="Stock prices")
fig.show()

# %% expected
colors = ["#636efa", "#ef553b", "#00cc96"]
expected = [
    {
        "kind": "line",
        "title": "Stock prices",
        "x": {"label": "date", "scale": "datetime"},
        "y": {"label": "price", "scale": "linear"},
        "series": [
            {"kind": "line", "label": t, "color": c, "columns": {
                "x": [d.strftime("%Y-%m-%d") for d in dates], "y": df[df.ticker == t].price}}
            for t, c in zip(["AAPL", "GOOG", "MSFT"], colors)
        ],
    }
]
