# %% data
import numpy as np
months = ["Jan", "Feb", "Mar", "Apr", "May"]
temperature = [2.1, 3.4, 7.9, 12.5, 17.0]
rainfall = [62, 48, 55, 44, 70]
pressure = [1013, 1009, 1017, 1015, 1012]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=months, y=temperature, name="Temperature"))
fig.add_trace(go.Bar(x=months, y=rainfall, name="Rain", yaxis="y2", opacity=0.4))
fig.add_trace(go.Scatter(x=months, y=pressure, name="Pressure", yaxis="y3", line=dict(dash="dot")))
fig.update_layout(
    title="Weather",
    xaxis=dict(domain=[0, 0.85]),
    yaxis=dict(title="Temperature (°C)"),
    yaxis2=dict(title="Rain (mm)", overlaying="y", side="right"),
    yaxis3=dict(title="Pressure (hPa)", overlaying="y", side="right", anchor="free", position=0.95,
                range=[1000, 1020]),
)
fig.show()

# %% expected
expected = [{"title": "Weather", "y": {"label": "Temperature (°C)"}, "y2": {"label": "Rain (mm)"},
             "more_axes": {"y3": {"label": "Pressure (hPa)", "limits": [1000, 1020]}}, "series": [
    {"kind": "line", "label": "Temperature", "axis": "y", "columns": {"x": months, "y": temperature}},
    {"kind": "bar", "label": "Rain", "axis": "y2", "columns": {"x": months, "y": rainfall}},
    {"kind": "line", "label": "Pressure", "axis": "y3", "columns": {"x": months, "y": pressure}}]}]
