# expect: html@show
import plotly.io as pio
pio.show({'data': [{'type': 'bar', 'y': [1]}]})
