# expect: html@show
import plotly.graph_objects as go
fig = go.Figure(go.Bar(y=[1, 2]))
from plotly.offline import plot
name = plot(fig)
import os
assert os.path.exists(name)
