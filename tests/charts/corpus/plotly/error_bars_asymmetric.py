# %% data
dose = [1, 2, 3, 4]
response = [2.0, 3.5, 5.0, 4.8]
up, down = [0.2, 0.4, 0.5, 0.3], [0.1, 0.3, 0.2, 0.6]

# %% program
import plotly.graph_objects as go

fig = go.Figure(
    data=go.Scatter(
        x=dose,
        y=response,
        mode="markers",
        name="response",
        error_y=dict(type="data", symmetric=False, array=up, arrayminus=down),
        marker=dict(color="purple", size=8),
    )
)
fig.update_layout(title="Dose response", xaxis_title="Dose (mg)", yaxis_title="Response")
fig.update_xaxes(tickvals=dose, ticktext=["low", "medium", "high", "very high"])
fig.show()

# %% expected
names = ["low", "medium", "high", "very high"]
expected = [{"kind": "errorbar", "x": {"label": "Dose (mg)", "scale": "category", "ticks": names}, "series": [
    {"kind": "errorbar", "label": "response", "columns": {"x": names, "y": response,
     "y_low": [v - d for v, d in zip(response, down)], "y_high": [v + u for v, u in zip(response, up)]}}]}]
