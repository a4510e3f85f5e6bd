# expect: html@show
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
import plotly.io as pio
pio.show(fig)
