# %% data
depth = [0, 10, 20, 30, 40]
temperature = [18.0, 15.5, 11.2, 8.4, 7.0]
salinity = [34.1, 34.4, 34.8, 35.0, 35.1]

# %% program
import plotly.graph_objects as go

fig = go.Figure()
fig.add_trace(go.Scatter(x=temperature, y=depth, name="Temperature", mode="lines"))
fig.add_trace(go.Scatter(x=salinity, y=depth, name="Salinity", mode="lines", xaxis="x2"))
fig.update_layout(
    title="Profile",
    xaxis=dict(title="Temperature (°C)"),
    xaxis2=dict(title="Salinity (PSU)", overlaying="x", side="top"),
    yaxis=dict(title="Depth (m)", autorange="reversed"),
    legend=dict(x=0.05, y=0.05),
)
fig.show()

# %% expected
expected = [{"kind": "line", "x": {"label": "Temperature (°C)"}, "y": {"label": "Depth (m)"}, "y2": None,
             "more_axes": {"x2": {"label": "Salinity (PSU)"}}, "series": [
    {"kind": "line", "label": "Temperature", "axis": "y", "columns": {"x": temperature, "y": depth}},
    {"kind": "line", "label": "Salinity", "axis": "x2", "columns": {"x": salinity, "y": depth}}]}]
