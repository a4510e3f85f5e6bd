# expect: png@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.png', dpi=50)
plt.show()
