# expect: html@show, html@show
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
fig.show(renderer='browser')
go.Figure(fig).show(renderer='png')
