# expect:
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
import io
fig.write_html(io.StringIO())
