# expect: html@show
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
from plotly.offline import init_notebook_mode, iplot
init_notebook_mode(connected=True)
iplot(fig)
