# expect: png@show, png@show
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
plt.plot([2, 1])
plt.show()
