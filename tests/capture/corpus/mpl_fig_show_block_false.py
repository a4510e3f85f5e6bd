# expect: png@show, png@show
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show(block=False)
plt.plot([2, 1])
plt.show(block=False)
