# expect: png@show
import matplotlib.pyplot as plt
plt.figure()
plt.show()
