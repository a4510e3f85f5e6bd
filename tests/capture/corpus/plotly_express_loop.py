# expect: html@show, html@show
import plotly.express as px
for _ in range(2):
    px.scatter(x=[1, 2], y=[2, 1]).show()
