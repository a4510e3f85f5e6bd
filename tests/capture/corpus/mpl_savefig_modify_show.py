# expect: png@savefig, png@show
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.png')
plt.title('new')
plt.show()
