# expect:
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
from plotly.offline import plot
div = plot(fig, output_type='div')
