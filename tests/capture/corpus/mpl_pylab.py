# expect: png@show
from pylab import *
plot([1, 2])
show()
