# %% data
import pandas as pd
df = pd.DataFrame({"date": pd.date_range("2024-02-05", periods=5), "open": [10.0, 11, 12, 11, 13], "high": [12.0, 13, 13, 14, 15],
                   "low": [9.0, 10, 11, 10, 12], "close": [11.0, 12, 11, 13, 14]})

# %% program
from bokeh.plotting import figure, show

inc = df.close > df.open
dec = df.open > df.close
w = 16 * 60 * 60 * 1000

p = figure(x_axis_type="datetime", tools="pan,wheel_zoom", width=800, height=400,
           title="Candlesticks", background_fill_color="#efefef")
p.segment(df.date, df.high, df.date, df.low, color="black")
p.vbar(df.date[dec], w, df.open[dec], df.close[dec], color="#eb3c40")
p.vbar(df.date[inc], w, df.close[inc], df.open[inc], fill_color="white", line_color="#49a3a3")
show(p)

# %% expected
days = df.date.dt.strftime("%Y-%m-%d")
up = df.close > df.open
expected = [{"title": "Candlesticks", "x": {"scale": "datetime"}, "series": [
    {"kind": "errorbar", "columns": {"x": days, "y_low": df.low, "y_high": df.high}},
    {"kind": "bar", "columns": {"x": days[~up], "y": (df.open - df.close)[~up], "base": df.close[~up]}},
    {"kind": "bar", "columns": {"x": days[up], "y": (df.close - df.open)[up], "base": df.open[up]}}]}]
