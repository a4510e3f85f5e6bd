# expect: png@show
import matplotlib.pyplot as plt
plt.ion()
plt.style.use('ggplot')
plt.plot([1, 2])
plt.show()
