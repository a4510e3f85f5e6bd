# expect: html@show, html@savefig
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
fig.show()
fig.update_layout(title='t')
fig.write_html('a.html')
