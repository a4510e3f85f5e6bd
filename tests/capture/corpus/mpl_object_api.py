# expect: png@savefig
from matplotlib.figure import Figure
fig = Figure()
fig.add_subplot().plot([1, 2])
fig.savefig('a.png')
