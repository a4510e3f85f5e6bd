# %% data
months = ["Jan", "Feb", "Mar", "Apr"]
revenue = [100, 120, 90, 150]
rate = [2.5, 3.1, 2.2, 3.8]

# %% program
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(specs=[[{"secondary_y": True}]])
fig.add_trace(go.Bar(x=months, y=revenue, name="Revenue"), secondary_y=False)
fig.add_trace(go.Scatter(x=months, y=rate, name="Rate", mode="lines+markers"), secondary_y=True)
fig.update_yaxes(title_text="Revenue ($)", secondary_y=False)
fig.update_yaxes(title_text="Rate (%)", secondary_y=True)
fig.show()

# %% expected
expected = [{"kind": "bar", "y": {"label": "Revenue ($)"}, "y2": {"label": "Rate (%)", "scale": "linear"}, "series": [
    {"kind": "bar", "label": "Revenue", "axis": "y", "columns": {"x": months, "y": revenue}},
    {"kind": "line", "label": "Rate", "axis": "y2", "columns": {"x": months, "y": rate}},
]}]
