# expect:
from bokeh.models import Slider
s = Slider(start=0, end=1, value=0, step=0.1, title='s')
None
