# expect: png@show
from matplotlib.pyplot import plot, show
plot([1, 2])
show()
