# %% data
hours = [0, 6, 12, 18]
temperature, humidity, wind = [10, 12, 20, 15], [80, 75, 50, 60], [3.0, 4.5, 7.2, 5.0]

# %% program
from bokeh.models import LinearAxis, Range1d
from bokeh.plotting import figure, show

p = figure(title="Weather", x_axis_label="Hour", y_axis_label="Temperature (°C)", y_range=(0, 30))
p.line(hours, temperature, color="red", legend_label="Temperature")
p.extra_y_ranges["humidity"] = Range1d(0, 100)
p.extra_y_ranges["wind"] = Range1d(start=0, end=10)
p.line(hours, humidity, color="blue", y_range_name="humidity", legend_label="Humidity")
p.scatter(hours, wind, color="green", y_range_name="wind", legend_label="Wind")
p.add_layout(LinearAxis(y_range_name="humidity", axis_label="Humidity (%)"), "right")
p.add_layout(LinearAxis(y_range_name="wind", axis_label="Wind (m/s)"), "right")
show(p)

# %% expected
expected = [{"kind": "line", "y": {"label": "Temperature (°C)", "limits": [0, 30]}, "y2": {"label": "Humidity (%)", "limits": [0, 100]},
             "more_axes": {"y3": {"label": "Wind (m/s)", "limits": [0, 10]}}, "series": [
    {"kind": "line", "label": "Temperature", "axis": "y", "columns": {"x": hours, "y": temperature}},
    {"kind": "line", "label": "Humidity", "axis": "y2", "columns": {"x": hours, "y": humidity}},
    {"kind": "scatter", "label": "Wind", "axis": "y3", "columns": {"x": hours, "y": wind}}]}]
